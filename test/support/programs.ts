/** Programs of the system that tests run. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Where the program is on PATH, or null. */
export function pathOf(program: string): string | null {
  const paths = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, program));
  return paths.find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
