/**
 * The schema of JUnit reports in common use, junit-10.xsd of Jenkins' xUnit plugin (MIT). No copy of it stands in this
 * repository: it comes out of the pinned source package of pytest, once, into the cache.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { execa } from 'execa';
import { validateXML } from 'xmllint-wasm';
import { findPython } from '../../src/targets/interpreter.ts';
import { builtOnce } from '../../src/targets/once.ts';
import { cacheDir } from '../../src/targets/paths.ts';

const VERSION = '8.3.5';
const HASH = 'sha256:f4efe70cc14e511565ac476b57c279e12a855b11f48f212af1080ef2263d3845';
const FILE = `pytest-${VERSION}/testing/example_scripts/junit-10.xsd`;

let schema: Promise<string> | undefined;

/** Errors of the documents by the schema, or by XML itself. All at once, because each call starts a process. */
export async function junitErrors(documents: readonly string[]): Promise<string[]> {
  schema ??= fetchedSchema();
  const { errors } = await validateXML({
    xml: documents.map((contents, i) => ({ fileName: `report-${i}.xml`, contents })),
    schema: { fileName: 'junit-10.xsd', contents: await schema },
    maxMemoryPages: 4096,
  });
  return errors.map((error) => error.rawMessage);
}

async function fetchedSchema(): Promise<string> {
  const directory = path.join(cacheDir(), 'tools', `junit-10-of-pytest-${VERSION}`);
  await builtOnce({
    directory,
    build: () => fetchInto(directory),
    accept: (marker) => (marker === VERSION ? VERSION : null),
    signal: AbortSignal.timeout(300_000),
    log: () => undefined,
  });
  return readFile(path.join(directory, FILE), 'utf8');
}

async function fetchInto(directory: string): Promise<string> {
  await mkdir(directory, { recursive: true });
  const requirement = path.join(directory, 'requirements.txt');
  await writeFile(requirement, `pytest==${VERSION} --hash=${HASH}\n`);
  const { path: python } = await findPython();
  const environment = path.join(directory, 'venv');
  // A Python of its own, because a system's may come without pip.
  await execa(python, ['-m', 'venv', environment]);
  const source = ['--no-deps', '--no-binary', ':all:', '--require-hashes'];
  const pip = path.join(environment, 'bin', 'pip');
  await execa(pip, ['download', '-q', ...source, '-r', requirement, '-d', directory]);
  await execa('tar', ['xzf', path.join(directory, `pytest-${VERSION}.tar.gz`), '-C', directory, FILE]);
  return VERSION;
}
