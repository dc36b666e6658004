/** Runs a k6 script: by a real k6 where there is one, or by the stand-in for its modules. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { reportSchema, type CaseReport, type Report } from '../../../src/verdict/schema.ts';

export type Runner = 'k6' | 'stand-in';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const STAND_IN = fileURLToPath(new URL('stand-in.ts', import.meta.url));
const HOOKS = new URL('register.mjs', import.meta.url).href;

/** K6_BIN, or the k6 of the PATH; null where there is none. */
export const K6: string | null = (() => {
  const named = process.env['K6_BIN'] ?? 'k6';
  return spawnSync(named, ['version'], { stdio: 'ignore' }).status === 0 ? named : null;
})();

export const k6Version = (): string =>
  K6 === null ? 'no k6' : spawnSync(K6, ['version'], { encoding: 'utf8' }).stdout.trim();

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** What the script wrote to JSON; null where it did not come that far. */
  readonly report: Report | null;
  readonly junit: string | null;
  /** Its only case. */
  readonly played: CaseReport | null;
}

/** What k6's environment must not bring along. */
const OWN =
  /^(K6_|TARGET|SESSIONS$|VUS$|RATE$|DURATION$|HEADERS$|REQUEST_HEADERS$|IDLE_TIMEOUT$|CAP$|SEED$|ALLOW_HOST$|METRICS$|RUN$|BUILD$|JSON$|JUNIT$)/;

/** @param script its name in loadtests, or a path */
export async function ranBy(
  runner: Runner,
  script: string,
  env: Readonly<Record<string, string>>,
  more: readonly string[] = [],
): Promise<Ran> {
  const out = mkdtempSync(join(tmpdir(), 'mcpr-k6-out-'));
  const [json, junit] = [join(out, 'report.json'), join(out, 'junit.xml')];
  const path = script.includes('/') ? script : join(ROOT, 'loadtests', `${script}.ts`);
  const given = Object.entries({ JSON: json, JUNIT: junit, ...env });
  const [command, args] =
    runner === 'k6'
      ? [
          K6 ?? 'k6',
          [
            'run',
            '--quiet',
            '--no-color',
            '--address',
            '',
            ...more,
            path,
            ...given.flatMap(([k, v]) => ['-e', `${k}=${v}`]),
          ],
        ]
      : [
          process.execPath,
          [
            '--import',
            import.meta.resolve('tsx'),
            '--import',
            HOOKS,
            STAND_IN,
            path,
            JSON.stringify(Object.fromEntries(given)),
          ],
        ];
  const inherited = Object.entries(process.env).filter(([name]) => !OWN.test(name));
  const child = spawn(command, args, {
    env: Object.fromEntries(inherited),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [texts, [code]] = await Promise.all([
    Promise.all([textOf(child.stdout), textOf(child.stderr)]),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  const read = (file: string): string | null => (existsSync(file) ? readFileSync(file, 'utf8') : null);
  const written = read(json);
  const report = written === null ? null : reportSchema.parse(JSON.parse(written));
  const result = { code, stdout: texts[0], stderr: texts[1], report, junit: read(junit) };
  rmSync(out, { recursive: true, force: true });
  return { ...result, played: report?.builds[0]?.cases[0] ?? null };
}

async function textOf(stream: NodeJS.ReadableStream): Promise<string> {
  let text = '';
  for await (const chunk of stream) text += String(chunk);
  return text;
}
