/** The HTML report in a real browser. What runs in the page is given as text: tests know no DOM. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'puppeteer-core';
import { htmlReport } from '../../src/report/html/report.ts';
import { browserMissing, open, openBrowser, type OpenOptions } from '../support/browser.ts';
import { comparedJudged, sweptJudged } from '../support/judged.ts';
import { poisoned } from '../support/reports.ts';

const HOSTILE = `</script><img src="http://example.invalid/x" onerror="document.title='taken'">`;

const axe = (): string => readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Pixels of a build's own line, for each chart and each of the first two builds. */
const PAINTED = `(() => {
  const rgb = (name) => {
    const hex = getComputedStyle(document.documentElement).getPropertyValue(name).trim().slice(1);
    return [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16));
  };
  const wanted = [rgb('--build-0'), rgb('--build-1')];
  return [...document.querySelectorAll('.chart canvas')].map((canvas) => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return wanted.map((color) => {
      let found = 0;
      for (let i = 0; i < data.length; i += 4)
        if (data[i + 3] > 200 && color.every((part, at) => Math.abs(part - data[i + at]) < 24)) found++;
      return found;
    });
  });
})()`;

const text = (page: Page, selector: string): Promise<string> =>
  page.evaluate(`document.querySelector(${JSON.stringify(selector)})?.textContent ?? ''`) as Promise<string>;

describe('the HTML report in a browser', { skip: browserMissing }, () => {
  let browser: Browser;
  let folder: string;
  const files: Record<string, string> = {};

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'mcpr-page-'));
    const { report, series } = comparedJudged();
    const pages = {
      compared: htmlReport({ report, series }),
      swept: htmlReport(sweptJudged()),
      hostile: htmlReport({ report: poisoned(report, HOSTILE), series }),
    };
    for (const [name, page] of Object.entries(pages)) {
      const path = join(folder, `${name}.html`);
      writeFileSync(path, page);
      files[name] = pathToFileURL(path).href;
    }
    browser = await openBrowser();
  });
  after(async () => {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const opened = (name: string, options?: OpenOptions) => open(browser, files[name] ?? '', options);

  for (const scheme of ['light', 'dark'] as const)
    for (const width of [360, 1600])
      test(`every chart has its lines, ${width} px, ${scheme}`, async () => {
        const { page, complaints, requests, close } = await opened('compared', { width, scheme });
        const painted = (await page.evaluate(PAINTED)) as number[][];
        assert.equal(painted.length, 9, 'three series of three cases');
        for (const counts of painted) for (const count of counts) assert.ok(count > 20, String(counts));
        const wide = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
        assert.equal(wide, 0, 'the page does not scroll sideways');
        assert.deepEqual([complaints, requests], [[], []]);
        await close();
      });

  for (const scheme of ['light', 'dark'] as const)
    for (const name of ['compared', 'swept'])
      test(`axe finds nothing serious in ${name}, ${scheme}`, async () => {
        const { page, close } = await opened(name, { scheme });
        await page.evaluate(`document.querySelectorAll('details').forEach((one) => { one.open = true; })`);
        await page.evaluate(axe());
        const { violations } = (await page.evaluate(`axe.run()`)) as {
          violations: { id: string; impact: string; nodes: { html: string }[] }[];
        };
        const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
        assert.deepEqual(
          serious.map(({ id, nodes }) => [id, nodes[0]?.html]),
          [],
        );
        await close();
      });

  test('the keys move a cursor that is read out', async () => {
    const { page, close } = await opened('compared');
    const chart = '[data-case="delete"] [data-plot="sessions"] .chart';
    const now = async (): Promise<number> =>
      Number(await page.evaluate(`document.querySelector('${chart}').getAttribute('aria-valuenow')`));
    await page.focus(chart);
    await page.keyboard.press('Home');
    assert.equal(await now(), 0);
    await page.keyboard.press('PageUp');
    await page.keyboard.press('ArrowRight');
    assert.ok(Math.abs((await now()) - 0.66) < 0.02, 'a tenth and a hundredth of six seconds');
    const said = await text(page, '[aria-live=polite]');
    assert.match(said, /^0\.66 s, load\. 1\.30\.0: 4 registered, 0 to 8 expected\. 1\.29\.1: /);
    assert.match(await text(page, '[data-case="delete"] .readout'), /^0\.66 s/);
    await page.keyboard.press('End');
    assert.equal(await now(), 6);
    await page.keyboard.press('Escape');
    assert.match(await text(page, '[data-case="delete"] .readout'), /^at the end/);
    await close();
  });

  test('a build can be hidden and shown again', async () => {
    const { page, close } = await opened('compared');
    const rows = (): Promise<unknown> =>
      page.evaluate(`document.querySelectorAll('[data-case="delete"] .readout tbody tr').length`);
    assert.equal(await rows(), 2);
    await page.click('.builds button');
    assert.equal(await rows(), 1);
    assert.equal(await page.evaluate(`document.activeElement.getAttribute('aria-pressed')`), 'false');
    await page.keyboard.press('Enter');
    assert.equal(await rows(), 2);
    await close();
  });

  test('the numbers behind each picture can be had', async () => {
    const { page, complaints, close } = await opened('compared');
    const saved = join(folder, 'saved');
    const devtools = await page.createCDPSession();
    await devtools.send('Browser.setDownloadBehavior', {
      behavior: 'allow',
      downloadPath: saved,
      eventsEnabled: true,
    });
    const done = new Promise<void>((resolve) => {
      devtools.on('Browser.downloadProgress', ({ state }) => state === 'completed' && resolve());
    });
    await page.click('[data-download="case"][data-case="delete"]');
    await done;
    const rows = readFileSync(join(saved, 'delete.csv'), 'utf8').trim().split('\r\n');
    assert.equal(rows[0]?.split(',').slice(0, 4).join(), 'build,seconds,phase,registered');
    assert.equal(rows.length, 1 + 2 * 61);
    assert.match(rows.at(-1) ?? '', /^python:mcp@1\.29\.1,6,\w+,400,0,0,0,/);
    const link = `document.querySelector('[data-download="performance"]').href`;
    assert.match((await page.evaluate(link)) as string, /^blob:/);
    assert.deepEqual(complaints, []);
    await close();
  });

  test('hostile text stays text, and an injected script does not run', async () => {
    const { page, requests, complaints, close } = await opened('hostile');
    assert.equal(await page.evaluate(`document.querySelectorAll('img').length`), 0);
    assert.match(await text(page, '.findings'), /<\/script><img/);
    assert.deepEqual([requests, complaints], [[], []]);
    await page.evaluate(`(() => {
      const script = document.createElement('script');
      script.textContent = 'document.title = "taken"';
      document.body.append(script);
      document.body.insertAdjacentHTML('beforeend', '<img src="http://example.invalid/x" onerror="document.title=1">');
    })()`);
    assert.notEqual(await page.title(), 'taken');
    assert.match(complaints.join('\n'), /Content Security Policy/);
    await close();
  });

  test('on paper everything is light and nothing is cut', async () => {
    const { page, close } = await opened('compared', { scheme: 'dark' });
    await page.evaluate(`dispatchEvent(new Event('beforeprint'))`);
    await page.emulateMediaType('print');
    const look = (await page.evaluate(`({
      paper: getComputedStyle(document.documentElement).backgroundColor,
      widths: [...document.querySelectorAll('.chart canvas')].map((canvas) => canvas.getBoundingClientRect().width),
      nav: getComputedStyle(document.querySelector('nav')).display,
    })`)) as { paper: string; widths: number[]; nav: string };
    assert.equal(look.paper, 'rgb(255, 255, 255)');
    assert.equal(look.nav, 'none');
    assert.equal(look.widths.length, 9);
    for (const width of look.widths) assert.ok(width <= 700, `${width} px fit on a page`);
    await close();
  });
});
