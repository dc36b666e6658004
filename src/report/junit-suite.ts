/** Test suites and cases before they are XML. */

export type Outcome =
  | { readonly kind: 'passed' | 'skipped'; readonly text: string }
  | { readonly kind: 'failure' | 'error'; readonly message: string; readonly text: string };

export interface TestCase {
  readonly classname: string;
  readonly name: string;
  readonly outcome: Outcome;
}

export interface Suite {
  readonly name: string;
  /** What was run for it: its time is theirs. */
  readonly arms: readonly { readonly build: string; readonly case: string }[];
  readonly cases: readonly TestCase[];
}

export const passed = (text: string): Outcome => ({ kind: 'passed', text });
export const skipped = (text: string): Outcome => ({ kind: 'skipped', text });
export const failed = (message: string, text: string): Outcome => ({ kind: 'failure', message, text });
