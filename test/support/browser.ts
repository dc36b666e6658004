/** Debian's chromium, with one page open; what the page says and asks for is kept. */
import puppeteer, { type Browser, type Page } from 'puppeteer-core';
import { pathOf } from './programs.ts';

const CHROME = process.env.CHROME_BIN ?? pathOf('chromium');

/** For node:test's `skip`: a reason where the browser is missing. In CI a missing one fails instead. */
export const browserMissing: string | false =
  process.env.CI === undefined && CHROME === null
    ? 'chromium is not on PATH, and CHROME_BIN names none'
    : false;

/** Pages on a busy machine take their time. */
const PATIENCE_MS = 120_000;

export async function openBrowser(): Promise<Browser> {
  if (CHROME === null) throw new Error('chromium is not on PATH: install it, or name it in CHROME_BIN');
  const isRoot = process.getuid?.() === 0;
  return puppeteer.launch({
    executablePath: CHROME,
    args: ['--disable-dev-shm-usage', ...(isRoot ? ['--no-sandbox'] : [])],
    timeout: PATIENCE_MS,
    protocolTimeout: PATIENCE_MS,
  });
}

export interface Opened {
  readonly page: Page;
  /** Console messages of warning or error, and uncaught errors. */
  readonly complaints: readonly string[];
  /** URLs that were asked for, but for the page's own and data: URLs. */
  readonly requests: readonly string[];
  readonly close: () => Promise<void>;
}

export interface OpenOptions {
  readonly width?: number;
  readonly scheme?: 'light' | 'dark';
}

export async function open(browser: Browser, url: string, options: OpenOptions = {}): Promise<Opened> {
  const page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const complaints: string[] = [];
  const requests: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warn'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => {
    if (request.url() !== url && !request.url().startsWith('data:')) requests.push(request.url());
  });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: options.scheme ?? 'light' }]);
  await page.setViewport({ width: options.width ?? 1280, height: 900 });
  await page.goto(url);
  return { page, complaints, requests, close: () => page.close() };
}
