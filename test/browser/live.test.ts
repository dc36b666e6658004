/** A page that follows a run, in a real browser. The run is a recording that this test goes on writing. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { serveLive } from '../../src/cli/live.ts';
import { browserMissing, open, openBrowser } from '../support/browser.ts';

const LINES = readFileSync(new URL('../golden/recording.v1.ndjson', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n');
const typeOf = (line: string): string => (JSON.parse(line) as { type: string }).type;

test('the page follows a run to its end', { skip: browserMissing }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mcpr-live-'));
  const recording = join(folder, 'recording.ndjson');
  // A recording only grows: the page must not read one that is cut to nothing while it is written anew.
  const write = (text: string): void => {
    writeFileSync(`${recording}.new`, text);
    renameSync(`${recording}.new`, recording);
  };
  // Until shortly before the first arm is over, and a line that is being written.
  const ended = LINES.findIndex((line) => typeOf(line) === 'arm-end');
  write(LINES.slice(0, ended).join('\n') + '\n{"type":"sam');
  const browser = await openBrowser();
  const live = await serveLive(true, recording, new AbortController().signal);
  try {
    const { page, complaints, requests } = await open(browser, live.url);
    const waits = { timeout: 120_000 };
    await page.waitForFunction(`document.querySelectorAll('.uplot').length >= 3`, waits);
    assert.match(
      (await page.evaluate(`document.querySelector('h1').textContent`)) as string,
      /nothing is judged yet/,
    );
    assert.match((await page.evaluate(`document.querySelector('.live').textContent`)) as string, /Running/);
    assert.equal(await page.evaluate(`document.querySelectorAll('.claims').length`), 0);

    // The reader's cursor stays where it is.
    await page.focus('.chart');
    await page.keyboard.press('Home');
    const upTo = LINES.findLastIndex((line) => typeOf(line) === 'arm-end');
    write(LINES.slice(0, upTo).join('\n') + '\n');
    await page.waitForFunction(`document.querySelectorAll('.claims').length > 0`, waits);
    assert.match(
      (await page.evaluate(`document.querySelector('h1').textContent`)) as string,
      /judged so far/,
    );
    assert.equal(await page.evaluate(`document.activeElement.className.includes('chart')`), true);

    write(LINES.join('\n') + '\n');
    await live.close();
    await page.waitForFunction(`document.querySelector('.live').dataset.state === 'over'`, waits);
    assert.match((await page.evaluate(`document.querySelector('h1').textContent`)) as string, /fail|keeps/);
    assert.deepEqual(complaints, []);
    assert.deepEqual([...new Set(requests)], [`${live.url}data.json`]);
    await assert.rejects(fetch(live.url));
  } finally {
    await live.close();
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
