/**
 * The configuration file `mcp-retention.yaml`, version 1.
 */
import { z } from 'zod';
import { exporterConfig } from './exporter.ts';

const LENGTH_OF_TIME = 'write a length of time such as 90s, 30m or 2h';
const LONGEST_SECONDS = 366 * 24 * 3600;

/** Seconds as a number, or text such as `90s`, `30m`, `2h`: more than none, at most a year. Result: seconds. */
export const duration = z
  .union([z.number(), z.string().regex(/^\d+(\.\d+)?(ms|s|m|h)$/, LENGTH_OF_TIME)], { error: LENGTH_OF_TIME })
  .transform((value) => {
    if (typeof value === 'number') return value;
    const unit = /[a-z]+$/.exec(value)?.[0] ?? 's';
    return parseFloat(value) * ({ ms: 0.001, s: 1, m: 60, h: 3600 }[unit] ?? 1);
  })
  // After the conversion: 0s is written as a length of time, and is none.
  .refine((seconds) => seconds > 0 && seconds <= LONGEST_SECONDS, 'must be more than 0 and at most a year');

const none = z.literal('none').transform(() => null);
const idleTimeout = z.union([none, duration], { error: `${LENGTH_OF_TIME}, or none` });
const maxSessions = z.union([none, z.number().int().positive()], { error: 'write a whole number, or none' });

/** Text; a number or a truth value is taken as it is spelled. */
const text = z.union([z.string(), z.number(), z.boolean()], { error: 'write text' }).transform(String);

/** How a setting reaches a command: by an environment variable or by arguments; `{value}` stands for it. */
const settingRoute = z.union(
  [z.strictObject({ env: z.string().min(1) }), z.strictObject({ args: z.array(text).min(1) })],
  { error: "write { env: NAME } or { args: [--flag, '{value}'] }" },
);

const tool = z.strictObject({ name: z.string(), arguments: z.record(z.string(), z.unknown()).default({}) });

/** A tool that runs for `{seconds}`: where it stands in an argument, the number is put in its place. */
const tools = z
  .strictObject({ call: tool.optional(), slow: tool.optional() })
  .describe('Tools to call instead of echo and sleep.');

const headers = z
  .record(z.string(), text)
  .describe(
    'Sent with every request. ${NAME} is replaced by that environment variable, so that secrets stay out of the file.',
  );

/** What we know of a server whose settings we do not set. */
const declared = z
  .strictObject({ idleTimeout: idleTimeout.optional(), maxSessions: maxSessions.optional() })
  .describe('What this server is configured to: without it, expiry and cap cannot be judged.');

export const packageTarget = z.strictObject({
  package: z.string().regex(/^python:/, 'only python:mcp@VERSION is known so far'),
  idleTimeout: idleTimeout.optional(),
  maxSessions: maxSessions.optional(),
  stateless: z.boolean().default(false),
  jsonResponse: z.boolean().default(false),
  workers: z.number().int().min(1).max(64).default(1),
});

export const commandTarget = z.strictObject({
  command: z.string().min(1),
  args: z.array(text).default([]).describe('{port} is replaced by a free port.'),
  cwd: z.string().optional(),
  env: z.record(z.string(), text).default({}),
  url: z.string().min(1).describe('Where the endpoint is then, for example http://127.0.0.1:{port}/mcp.'),
  readiness: z
    .union([z.strictObject({ url: z.string() }), z.strictObject({ tcp: z.literal(true) })], {
      error: 'write { url: URL } or { tcp: true }',
    })
    .default({ tcp: true })
    .describe('How to tell that it serves: a route apart from the endpoint, or a bare TCP connect.'),
  probe: z.enum(['python', 'self', 'none']).default('none'),
  settings: z
    .strictObject({ idleTimeout: settingRoute.optional(), maxSessions: settingRoute.optional() })
    .default({}),
  declared: declared.optional(),
  headers: headers.optional(),
  tools: tools.optional(),
});

export const urlTarget = z.strictObject({
  url: z.string().min(1),
  pid: z.number().int().positive().optional(),
  headers: headers.optional(),
  declared: declared.optional(),
  tools: tools.optional(),
});

export const targetConfig = z.union([packageTarget, commandTarget, urlTarget]);

export const configSchema = z.strictObject({
  version: z.literal(1, {
    error: ({ input }) => (input === undefined ? undefined : 'this release reads version 1'),
  }),
  policy: z
    .strictObject({
      idleMax: duration.optional().describe('An abandoned session must be gone after this long.'),
      maxSessions: z.number().int().positive().optional().describe('Never more sessions than this at once.'),
    })
    .default({}),
  allow: z
    .record(z.string(), z.string().trim().min(1, 'say why this failure is allowed'))
    .default({})
    .describe(
      'Claims whose failure is allowed, each with its reason. One that fails nowhere is stale, and fails.',
    ),
  targets: z
    .record(z.string().regex(/^[A-Za-z0-9._-]+$/, 'letters, digits, . _ - only'), targetConfig)
    .default({}),
  exporter: exporterConfig.default({ targets: {} }).describe('What mcp-retention exporter serves.'),
});

export type PackageTarget = z.infer<typeof packageTarget>;
export type CommandTarget = z.infer<typeof commandTarget>;
export type UrlTarget = z.infer<typeof urlTarget>;
export type TargetConfig = z.infer<typeof targetConfig>;
export type Config = z.infer<typeof configSchema>;
