/** What judging one claim gives. */
export interface Finding {
  readonly status: 'pass' | 'fail' | 'unmeasured';
  readonly expected: string;
  readonly observed: string;
  /** One sentence: why it failed or could not be measured, and what to do. Empty for a pass. */
  readonly reason: string;
  /** The run showed that this target cannot be asked the claim, so that it does not make the run undecided. */
  readonly withdrawn?: true;
}

export const pass = (expected: string, observed: string): Finding => ({
  status: 'pass',
  expected,
  observed,
  reason: '',
});

export const fail = (expected: string, observed: string, reason: string): Finding => ({
  status: 'fail',
  expected,
  observed,
  reason,
});

export const unmeasured = (reason: string): Finding => ({
  status: 'unmeasured',
  expected: '',
  observed: '',
  reason,
});

/** Unmeasured, and rightly so: the target does not have what the claim is about. */
export const withdrawn = (reason: string): Finding => ({ ...unmeasured(reason), withdrawn: true });

/** `3 of 300`, with the noun that fits. */
export const of = (part: number, whole: number, noun: string): string => `${part} of ${whole} ${noun}`;
