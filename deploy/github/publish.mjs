/** Step 4: shows the report in the job's summary and, where the token allows, as one comment on the pull request. */
import { appendFileSync, readFileSync } from 'node:fs';
import process from 'node:process';
import { event, get, gh, GhError, input, repository, say } from './runner.mjs';

const PAGE = 100;
/** A pull request with more comments than this gets a new one. */
const MOST_PAGES = 30;

function text() {
  const why = input('WHY_ALONE');
  const report = input('MARKDOWN');
  const body =
    report === ''
      ? `## MCP session retention: not measured\n\nThe check ended with exit code ${input('EXIT_CODE')} and without a report: the step's log says why.\n`
      : readFileSync(report, 'utf8');
  return why === '' ? body : `> ${why}\n\n${body}`;
}

/** Each use of the action in a repository, told apart by its artifact, has one comment of its own. */
const marker = () => `<!-- mcp-retention ${input('ARTIFACT').replace(/[^A-Za-z0-9._-]/g, '-')} -->`;

function comment(body) {
  const number = event().pull_request?.number;
  if (input('COMMENT') !== 'true' || typeof number !== 'number') return;
  const of = `repos/${repository()}/issues`;
  try {
    const before = findOwn(`${of}/${number}/comments`);
    const [method, path] =
      before === null ? ['POST', `${of}/${number}/comments`] : ['PATCH', `${of}/comments/${before}`];
    gh(['api', '--method', method, path, '--input', '-'], { body: `${marker()}\n${body}` });
  } catch (error) {
    if (!(error instanceof GhError)) throw error;
    // The report itself is in the summary: a comment that cannot be made decides nothing.
    if (error.status === 403)
      say(
        'notice',
        "No comment was made, because the token may not write: that of a pull request from a fork is read-only, others need `pull-requests: write`. The report is in the job's summary.",
      );
    else say('warning', `No comment could be made (${error.message}). The report is in the job's summary.`);
  }
}

/** Anyone can write a comment that begins like ours; only a bot's or a maintainer's is taken for it. */
const isOwn = ({ body, user, author_association: role }) =>
  body?.startsWith(marker()) === true &&
  (user?.type === 'Bot' || ['OWNER', 'MEMBER', 'COLLABORATOR'].includes(role));

function findOwn(path) {
  for (let page = 1; page <= MOST_PAGES; page++) {
    const comments = get(`${path}?per_page=${PAGE}&page=${page}`);
    const own = comments.find(isOwn);
    if (own) return own.id;
    if (comments.length < PAGE) return null;
  }
  return null;
}

const body = text();
if (process.env.GITHUB_STEP_SUMMARY) appendFileSync(process.env.GITHUB_STEP_SUMMARY, body + '\n');
comment(body);
