/** What the steps of action.yml share: the runner's files and messages, and gh. Node.js alone, nothing installed. */
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFileSync, readFileSync } from 'node:fs';
import process from 'node:process';

/** An input as action.yml hands it on, without the white space around it. */
export const input = (name) => (process.env[name] ?? '').trim();

/** Sets outputs of the step. */
export function setOutputs(outputs) {
  for (const [name, value] of Object.entries(outputs)) {
    // A line of a value must not pass for the end of it, or for another output.
    const end = randomUUID();
    appendFileSync(process.env.GITHUB_OUTPUT, `${name}<<${end}\n${value}\n${end}\n`);
  }
}

/** A message on the run's page. */
export function say(level, text) {
  const escaped = text.replace(/%/g, '%25').replace(/\r/g, '%0D').replace(/\n/g, '%0A');
  process.stdout.write(`::${level} title=mcp-retention::${escaped}\n`);
}

/** The payload of the event that started the run, as far as there is one. */
export function event() {
  try {
    return JSON.parse(readFileSync(process.env.GITHUB_EVENT_PATH ?? '', 'utf8'));
  } catch {
    return {};
  }
}

/** gh said no: its own first line. `status` is the HTTP status where it tells one. */
export class GhError extends Error {
  constructor(text) {
    super(text.trim().split('\n')[0] || 'gh could not be run');
    this.status = Number(/HTTP (\d{3})/.exec(text)?.[1] ?? 0);
  }
}

/**
 * Runs gh.
 * @returns what it printed
 * @throws GhError
 */
export function gh(args, body) {
  const done = spawnSync('gh', args, {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 ** 2,
    ...(body !== undefined && { input: JSON.stringify(body) }),
  });
  if (done.error) throw new GhError(done.error.message);
  if (done.status !== 0) throw new GhError(done.stderr || `gh ended with ${done.status ?? done.signal}`);
  return done.stdout;
}

/** GET of GitHub's API. */
export const get = (path) => JSON.parse(gh(['api', path]));

export const repository = () => process.env.GITHUB_REPOSITORY ?? '';
