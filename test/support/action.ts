/** Runs a step of action.yml as a runner does, with programs of ours in place of gh and npm. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { parse } from 'yaml';
import { projectFile, readProjectFile } from './compose.ts';

export interface Action {
  readonly inputs: Record<string, { description: string; required?: boolean; default?: string }>;
  readonly outputs: Record<string, { value: string }>;
  readonly runs: { readonly steps: readonly ActionStep[] };
}

export interface ActionStep {
  readonly name: string;
  readonly if?: string;
  readonly run?: string;
  readonly uses?: string;
  readonly env?: Record<string, string>;
  readonly with?: Record<string, string>;
}

export const readAction = (): Action => parse(readProjectFile('action.yml')) as Action;

/** What gh answers: see test/fixtures/programs/gh.mjs. */
export interface GhWorld {
  readonly answers?: Record<string, unknown>;
  /** Run → name of a file → its text. */
  readonly artifacts?: Record<string, Record<string, string>>;
  readonly fail?: string;
  readonly failOn?: string;
}

/** What npm does: see test/fixtures/programs/npm.mjs. */
export interface NpmWorld {
  readonly code?: number;
  readonly files?: Record<string, string>;
  readonly command?: readonly string[];
}

export interface StepRun {
  readonly code: number | undefined;
  readonly stdout: string;
  readonly outputs: Readonly<Record<string, string>>;
  readonly summary: string;
  /** What gh was told to write. */
  readonly written: readonly { method: string; path: string; body: string }[];
  /** What npm was called with. */
  readonly asked: readonly string[];
}

export class Runner {
  readonly folder = mkdtempSync(join(tmpdir(), 'mcpr-action-'));

  constructor() {
    mkdirSync(this.path('bin'));
    for (const name of ['gh', 'npm'])
      symlinkSync(projectFile(`test/fixtures/programs/${name}.mjs`).pathname, this.path(`bin/${name}`));
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** @param env what action.yml gives the step by its `env` */
  async step(
    script: string,
    env: Readonly<Record<string, string>>,
    world: { gh?: GhWorld; npm?: NpmWorld; event?: unknown },
  ): Promise<StepRun> {
    const file = (name: string, text: string): string => {
      writeFileSync(this.path(name), text);
      return this.path(name);
    };
    const files = {
      GH_WORLD: file('gh.json', JSON.stringify({ answers: {}, artifacts: {}, written: [], ...world.gh })),
      NPM_WORLD: file('npm.json', JSON.stringify({ asked: [], ...world.npm })),
      GITHUB_EVENT_PATH: file('event.json', JSON.stringify(world.event ?? {})),
      GITHUB_OUTPUT: file('output', ''),
      GITHUB_STEP_SUMMARY: file('summary', ''),
    };
    const path = [this.path('bin'), dirname(process.execPath), process.env.PATH ?? ''].join(':');
    const done = await execa(process.execPath, [projectFile(`deploy/github/${script}`).pathname], {
      cwd: this.folder,
      env: { ...files, ...env, GITHUB_REPOSITORY: 'shop/server', RUNNER_TEMP: this.folder, PATH: path },
      reject: false,
    });
    const json = (name: string): unknown => JSON.parse(readFileSync(this.path(name), 'utf8'));
    return {
      code: done.exitCode,
      stdout: done.stdout,
      outputs: outputsOf(readFileSync(files.GITHUB_OUTPUT, 'utf8')),
      summary: readFileSync(files.GITHUB_STEP_SUMMARY, 'utf8'),
      written: (json('gh.json') as Pick<StepRun, 'written'>).written,
      asked: (json('npm.json') as Pick<StepRun, 'asked'>).asked,
    };
  }

  end(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Outputs by the runner's rule: `NAME<<END`, the value's lines, END. */
function outputsOf(text: string): Record<string, string> {
  const found = [...text.matchAll(/^([\w-]+)<<(.+)\n([\s\S]*?)\n\2$/gm)];
  return Object.fromEntries(found.map(([, name = '', , value = '']) => [name, value]));
}
