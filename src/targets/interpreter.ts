/**
 * Finds the Python that environments are made from.
 */
import { execa } from 'execa';
import { z } from 'zod';
import { TargetError } from './target.ts';

export const PYTHON_VARIABLE = 'MCP_RETENTION_PYTHON';
const CANDIDATES = ['python3', 'python3.14', 'python3.13', 'python3.12', 'python3.11', 'python3.10'];
const OLDEST = [3, 10] as const;
const ASK =
  'import sys, json; print(json.dumps({"path": sys.executable, "version": ".".join(map(str, sys.version_info[:3]))}))';
const ASK_TIMEOUT_MS = 15_000;

const answer = z.object({ path: z.string().min(1), version: z.string().regex(/^\d+\.\d+\.\d+$/) });

/** A Python interpreter: absolute path and `MAJOR.MINOR.PATCH`. */
export type Interpreter = z.infer<typeof answer>;

/**
 * The first usable Python: MCP_RETENTION_PYTHON if it is set, else python3, python3.14 … python3.10.
 * @throws TargetError when there is none that is 3.10 or newer.
 */
export async function findPython(env: NodeJS.ProcessEnv = process.env): Promise<Interpreter> {
  const wanted = env[PYTHON_VARIABLE];
  for (const command of wanted ? [wanted] : CANDIDATES) {
    const found = await ask(command, env);
    if (found !== null && isNewEnough(found.version)) return found;
  }
  throw new TargetError(
    wanted
      ? `${PYTHON_VARIABLE} names ${wanted}, which is no Python 3.10 or newer that runs: set it to one.`
      : `No Python 3.10 or newer is on PATH: install one, or name one in ${PYTHON_VARIABLE}.`,
  );
}

async function ask(command: string, env: NodeJS.ProcessEnv): Promise<Interpreter | null> {
  // Asked, not believed: a shim of that name may exist without a Python behind it.
  const result = await execa(command, ['-I', '-c', ASK], {
    env,
    extendEnv: false,
    reject: false,
    timeout: ASK_TIMEOUT_MS,
    stdin: 'ignore',
  });
  if (result.failed) return null;
  try {
    return answer.parse(JSON.parse(result.stdout));
  } catch {
    return null;
  }
}

function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}
