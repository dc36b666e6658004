/**
 * Step 1: what the candidate is compared with. Where no baseline is given, it is the recording that the last successful
 * run on the default branch has uploaded. Without one the candidate is measured alone, which is said and fails nothing.
 */
import { existsSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { event, get, gh, GhError, input, repository, say, setOutputs } from './runner.mjs';

/** Older artifacts of the branch are not asked about: they have expired, or nobody wants them. */
const MOST_ASKED = 20;

function findBaseline() {
  const given = input('BASELINE');
  if (given !== '') return { baseline: given, why: '' };
  const artifact = input('ARTIFACT');
  try {
    const branch =
      input('DEFAULT_BRANCH') ||
      event().repository?.default_branch ||
      get(`repos/${repository()}`).default_branch;
    const found = lastSuccessful(artifact, branch);
    if (found === null)
      return alone(`no successful run on ${branch} has left an artifact ${artifact}`, 'notice');
    const recording = download(found, artifact);
    return existsSync(recording)
      ? { baseline: recording, why: '' }
      : alone(`the artifact ${artifact} of run ${found} has no recording.ndjson`, 'warning');
  } catch (error) {
    if (!(error instanceof GhError)) throw error;
    return alone(`it could not be looked for (${error.message})`, 'warning');
  }
}

function alone(reason, level) {
  const why = `There is no baseline to compare with: ${reason}. The candidate is measured alone.`;
  say(level, why);
  return { baseline: '', why };
}

/** @returns the run that left the artifact, or null */
function lastSuccessful(artifact, branch) {
  const path = `repos/${repository()}/actions/artifacts?per_page=100&name=${encodeURIComponent(artifact)}`;
  const runs = get(path)
    .artifacts.filter((one) => !one.expired && isOwn(one.workflow_run, branch))
    .sort((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at))
    .map((one) => one.workflow_run.id);
  return [...new Set(runs)].slice(0, MOST_ASKED).find(isBaseline) ?? null;
}

/** A fork may have a branch of the same name. */
const isOwn = (run, branch) =>
  run !== undefined && run.head_branch === branch && run.head_repository_id === run.repository_id;

/** A pull request out of the default branch into another one is no state of the default branch. */
function isBaseline(id) {
  const run = get(`repos/${repository()}/actions/runs/${id}`);
  return run.conclusion === 'success' && !String(run.event).startsWith('pull_request');
}

function download(run, artifact) {
  const folder = mkdtempSync(join(process.env.RUNNER_TEMP ?? '.', 'mcp-retention-baseline-'));
  gh(['run', 'download', String(run), '--repo', repository(), '--name', artifact, '--dir', folder]);
  return join(folder, 'recording.ndjson');
}

setOutputs(findBaseline());
