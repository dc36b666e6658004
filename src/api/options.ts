/** What the functions of the library take, and how it is checked: a mistake is one sentence that names the option. */
import { z } from 'zod';
import { CASES } from '../cases/index.ts';
import { plainWords, sentence } from '../config/issues.ts';
import { configSchema } from '../config/schema.ts';
import type { Registry } from '../probe/registry.ts';
import { UsageError } from '../targets/target.ts';

/** What `check`, `compare` and `assertReleases` take. */
export interface CheckOptions {
  /** Ids of the cases to play, such as `['delete', 'abandon']`; default: all. `mcp-retention cases` lists them. */
  readonly cases?: readonly string[];
  /** Sessions of a case's main load, in place of its own number. */
  readonly sessions?: number;
  /** Sessions at a time, in place of a case's own number. */
  readonly concurrency?: number;
  /** Seed of the session plans; default 1. */
  readonly seed?: number;
  /** Claims whose failure is allowed, each with its reason. One that fails nowhere is stale, and fails. */
  readonly allow?: Readonly<Record<string, string>>;
  /** `idleMax`: an abandoned session must be gone after this long: seconds, or text such as `30m`. */
  readonly policy?: { readonly idleMax?: number | string; readonly maxSessions?: number };
  /**
   * Folder for the recording and the servers' logs, made when absent; a recording that is in it already is kept and
   * makes the call fail. Default: a private one, removed afterwards.
   */
  readonly out?: string;
  /** Ends the measurement in order; the promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Hosts other than this machine that may be put under load. */
  readonly allowHosts?: readonly string[];
  /** Sent with every request to a server that is not this tool's own. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Process of a server given by URL, for its memory. */
  readonly pid?: number;
  /** Folder of the probe's sockets of a server that runs with a probe. */
  readonly probeDir?: string;
  /** The Map or Set that a server in this process keeps its transports in: then they are counted. */
  readonly registry?: Registry;
}

export interface CompareOptions extends CheckOptions {
  /** Compare speed and memory too: `true`, or with a budget in seconds (60) and the smallest effect (0.1: 10 %). */
  readonly performance?:
    | boolean
    | {
        readonly budgetSeconds?: number;
        readonly smallestEffect?: number;
        /** Worse speed fails the comparison. */
        readonly decides?: boolean;
      };
}

export interface AssertOptions extends CheckOptions {
  /** Do not fail where nothing failed and a promised claim could not be measured. */
  readonly allowUndecided?: boolean;
}

const ofKind = <T>(kind: abstract new () => T, name: string) =>
  z.custom<T>((value) => value instanceof kind, `give ${name}`);

const ids = CASES.map(({ id }) => id);
const claims = new Set(CASES.flatMap((definition) => definition.claims));
const whole = (least: number, most: number) => z.number().int().min(least).max(most).optional();
const NO_CLAIM = 'this is no claim: mcp-retention cases lists them';
const { policy, allow } = configSchema.shape;

const checkOptions = z.strictObject({
  cases: z
    .array(z.enum(ids, { error: `known cases: ${ids.join(', ')}` }))
    .min(1)
    .optional(),
  sessions: whole(1, 1_000_000),
  concurrency: whole(1, 1000),
  seed: whole(0, 2 ** 31 - 1),
  allow: allow.superRefine((given, context) => {
    for (const claim of Object.keys(given))
      if (!claims.has(claim)) context.addIssue({ code: 'custom', path: [claim], message: NO_CLAIM });
  }),
  policy,
  out: z.string().min(1).optional(),
  signal: ofKind(AbortSignal, 'an AbortSignal').optional(),
  allowHosts: z.array(z.string()).default([]),
  headers: z.record(z.string(), z.string()).default({}),
  pid: whole(1, 2 ** 31 - 1),
  probeDir: z.string().min(1).optional(),
  // Which objects can be counted is said by what counts them.
  registry: z.custom<Registry>((value) => value !== null && value !== undefined).optional(),
});

const speed = z.strictObject({
  budgetSeconds: z.number().min(1).max(3600).default(60),
  smallestEffect: z.number().min(0.01).max(1).default(0.1),
  decides: z.boolean().default(false),
});

const compareOptions = checkOptions.extend({
  performance: z.union([z.boolean(), speed], { error: 'write true or { budgetSeconds: 60 }' }).default(false),
});
const assertOptions = checkOptions.extend({ allowUndecided: z.boolean().default(false) });

export type Checked = z.infer<typeof checkOptions>;
export type CheckedComparison = z.infer<typeof compareOptions>;
export type CheckedAssertion = z.infer<typeof assertOptions>;

/** @throws UsageError */
export function checkedBy<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const parsed = schema.safeParse(value, { error: plainWords });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new UsageError(issue ? sentence(issue).replace(/^the file\b/, what) : `${what}: it is wrong.`);
}

// `undefined` stands for an option that is left out.
function given(options: unknown): object {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw new UsageError('options: write an object such as { sessions: 50 }.');
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

export const checkedOptions = (options: CheckOptions): Checked =>
  checkedBy(checkOptions, given(options), 'options');
export const checkedComparison = (options: CompareOptions): CheckedComparison =>
  checkedBy(compareOptions, given(options), 'options');
export const checkedAssertion = (options: AssertOptions): CheckedAssertion =>
  checkedBy(assertOptions, given(options), 'options');

/** How speed is compared; null: it is not. */
export const performanceOf = ({ performance }: CheckedComparison): z.infer<typeof speed> | null =>
  performance === false ? null : performance === true ? speed.parse({}) : performance;
