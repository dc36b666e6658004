/** The step of action.yml that shows the report: run as a runner does. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import { Runner, type GhWorld } from '../support/action.ts';

const runner = new Runner();
after(() => runner.end());

describe('the report', () => {
  const commentsOn = (page: number): string =>
    `repos/shop/server/issues/12/comments?per_page=100&page=${page}`;
  const MARKER = '<!-- mcp-retention mcp-retention -->';
  const event = { pull_request: { number: 12 } };
  const show = (gh: GhWorld, env: Record<string, string> = {}, payload: unknown = event) => {
    writeFileSync(runner.path('report.md'), '## Verdict `$(id)`\n');
    const given = {
      MARKDOWN: runner.path('report.md'),
      EXIT_CODE: '1',
      COMMENT: 'true',
      ARTIFACT: 'mcp-retention',
    };
    return runner.step('publish.mjs', { ...given, ...env }, { gh, event: payload });
  };
  const others = Array.from({ length: 100 }, (_, id) => ({ id, body: 'hello', user: { type: 'User' } }));

  test('is in the summary, and a new comment', async () => {
    const { summary, written } = await show({ answers: { [commentsOn(1)]: [] } });
    assert.match(summary, /^## Verdict `\$\(id\)`/);
    assert.deepEqual(written, [
      {
        method: 'POST',
        path: 'repos/shop/server/issues/12/comments',
        body: `${MARKER}\n## Verdict \`$(id)\`\n`,
      },
    ]);
  });

  test('takes the place of its last comment, wherever that stands, and of nobody else’s', async () => {
    const stranger = { id: 700, body: `${MARKER}\nmine`, user: { type: 'User' }, author_association: 'NONE' };
    const own = { id: 800, body: `${MARKER}\nbefore`, user: { type: 'Bot' }, author_association: 'NONE' };
    const { written } = await show({
      answers: {
        [commentsOn(1)]: others,
        [commentsOn(2)]: [stranger, own],
      },
    });
    assert.deepEqual(
      written.map(({ method, path }) => [method, path]),
      [['PATCH', 'repos/shop/server/issues/comments/800']],
    );
  });

  test('is in the summary alone where the token is read-only, as that of a fork: it says so and goes on', async () => {
    const { code, stdout, summary } = await show({
      answers: { [commentsOn(1)]: [] },
      fail: 'gh: Resource not accessible by integration (HTTP 403)',
      failOn: 'POST',
    });
    assert.equal(code, 0);
    assert.match(stdout, /::notice .*pull request from a fork is read-only/);
    assert.match(summary, /Verdict/);
  });

  test('goes on where the API fails', async () => {
    const { code, stdout } = await show({ fail: 'gh: oh no (HTTP 500)', failOn: 'comments' });
    assert.equal(code, 0);
    assert.match(stdout, /::warning .*oh no/);
  });

  test('is no comment where none is wanted, or where there is no pull request', async () => {
    assert.deepEqual((await show({}, { COMMENT: 'false' })).written, []);
    assert.deepEqual((await show({}, {}, { ref: 'refs/heads/main' })).written, []);
  });

  test('says that the candidate was measured alone, and that nothing was', async () => {
    const { summary } = await show({}, { WHY_ALONE: 'There is no baseline.', COMMENT: 'false' });
    assert.match(summary, /^> There is no baseline\.\n\n## Verdict/);
    const none = await show({}, { MARKDOWN: '', EXIT_CODE: '2', COMMENT: 'false' });
    assert.match(none.summary, /not measured\n\nThe check ended with exit code 2/);
  });
});
