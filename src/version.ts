import { readFileSync } from 'node:fs';

/** Works from src/ and from dist/: both stand beside package.json. */
const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  name: string;
  version: string;
};

export const TOOL = { name: manifest.name, version: manifest.version } as const;
