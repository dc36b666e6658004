/**
 * Step 2: runs the check. It ends with 0 whatever was found, so that the report is published; the last step ends with
 * the exit code.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { URL } from 'node:url';
import { input, say, setOutputs } from './runner.mjs';

const UNDECIDED = 3;

const lines = (text) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
const words = (text) => text.split(/[\s,]+/).filter((word) => word !== '');
const option = (name, value) => (value === '' ? [] : [name, value]);

/** The arguments of mcp-retention. Names of targets come last, and none of them passes for an option. */
function argumentsFor(folder) {
  const [baseline, candidate] = [input('BASELINE'), input('CANDIDATE')];
  const targets = baseline === '' ? [candidate] : [baseline, candidate];
  return [
    baseline === '' ? 'check' : 'compare',
    ...option('--config', input('CONFIG')),
    ...words(input('CASES')).flatMap((id) => ['--case', id]),
    ...option('--sessions', input('SESSIONS')),
    ...(baseline === '' ? [] : speed()),
    ...lines(input('ARGS')),
    ...option('--out', folder),
    '--',
    ...targets,
  ];
}

/** Speed is compared or not looked at: of one build alone it tells nothing. */
function speed() {
  const wanted = input('PERFORMANCE');
  if (['', 'false'].includes(wanted)) return option('--fail-on', input('FAIL_ON'));
  return ['--performance', ...(wanted === 'true' ? [] : [wanted]), ...option('--fail-on', input('FAIL_ON'))];
}

/** How npm is asked for the tool: by default at the version that this action is of. */
function command() {
  const wanted = input('VERSION');
  if (wanted === 'installed') return ['exec', '--no', '--', 'mcp-retention'];
  const own = new URL('../../package.json', import.meta.url);
  const version = wanted === '' ? JSON.parse(readFileSync(own, 'utf8')).version : wanted;
  return ['exec', '--yes', `--package=mcp-retention@${version}`, '--', 'mcp-retention'];
}

function measure(folder) {
  const { status, error } = spawnSync('npm', [...command(), ...argumentsFor(folder)], { stdio: 'inherit' });
  if (error) say('error', `npm could not be run: ${error.message}`);
  // npm itself ends with 1 where it cannot install the tool: that is not a claim that failed.
  const judged = existsSync(join(folder, 'report.json'));
  return status === null || (status === 1 && !judged) ? UNDECIDED : status;
}

const folder = mkdtempSync(join(process.env.RUNNER_TEMP ?? '.', 'mcp-retention-'));
const code = measure(folder);
const report = join(folder, 'report.json');
const verdict = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')).verdict : '';
setOutputs({
  folder,
  verdict,
  'exit-code': code,
  ...Object.fromEntries(
    [
      ['report', 'report.json'],
      ['markdown', 'report.md'],
      ['junit', 'report.junit.xml'],
      ['html', 'report.html'],
      ['recording', 'recording.ndjson'],
    ].map(([name, file]) => [name, existsSync(join(folder, file)) ? join(folder, file) : '']),
  ),
});
