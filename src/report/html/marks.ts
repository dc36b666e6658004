/** Statuses by sign, word and colour: never by colour alone. */
import type { ChangeReport, ClaimReport } from '../../verdict/schema.ts';
import { html, type Markup } from './markup.ts';

export type Tone = 'good' | 'bad' | 'open' | 'plain';
type Status = ClaimReport['status'] | ChangeReport['baseline']['status'] | 'allowed';

const SIGNS: Record<Tone, string> = { good: '✓', bad: '✗', open: '?', plain: '·' };

export const TONES: Record<Status, Tone> = {
  pass: 'good',
  fail: 'bad',
  unmeasured: 'open',
  unasked: 'plain',
  allowed: 'open',
};

const WORDS: Record<Status, string> = {
  pass: 'pass',
  fail: 'fail',
  unmeasured: 'unmeasured',
  unasked: 'not asked',
  allowed: 'allowed',
};

/** A sign with its word. */
export const mark = (tone: Tone, word: string): Markup =>
  html`<span class="mark ${tone}"><span aria-hidden="true">${SIGNS[tone]}</span> ${word}</span>`;

/** A sign whose word is for screen readers alone, because it stands beside what says it. */
export const sign = (tone: Tone, word: string): Markup =>
  html`<span class="mark ${tone}"
    ><span aria-hidden="true">${SIGNS[tone]}</span><span class="aside"> ${word} </span></span
  >`;

export const statusMark = (status: Status): Markup => mark(TONES[status], WORDS[status]);
export const statusSign = (status: Status): Markup => sign(TONES[status], WORDS[status]);

/** An allowed failure stays a failure and decides nothing. */
export const claimMark = (claim: Pick<ClaimReport, 'status' | 'promised' | 'allowed'>): Markup => {
  if (claim.allowed !== null) return statusMark('allowed');
  return claim.status === 'unmeasured' && !claim.promised
    ? mark('plain', 'not promised')
    : statusMark(claim.status);
};
