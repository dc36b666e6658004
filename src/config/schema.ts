/**
 * The configuration file `mcp-retention.yaml`, version 1.
 */
import { z } from 'zod';

/** Seconds as a number, or text such as `90s`, `30m`, `2h`. Result: seconds. */
export const duration = z
  .union([
    z.number().positive(),
    z.string().regex(/^\d+(\.\d+)?(ms|s|m|h)$/, 'write a length of time such as 90s, 30m or 2h'),
  ])
  .transform((value) => {
    if (typeof value === 'number') return value;
    const unit = /[a-z]+$/.exec(value)?.[0] ?? 's';
    return parseFloat(value) * ({ ms: 0.001, s: 1, m: 60, h: 3600 }[unit] ?? 1);
  });

const none = z.literal('none').transform(() => null);
const idleTimeout = z.union([none, duration]);
const maxSessions = z.union([none, z.number().int().positive()]);

/** How a setting reaches a command: by an environment variable or by arguments; `{value}` stands for it. */
const settingRoute = z.union([
  z.strictObject({ env: z.string().min(1) }),
  z.strictObject({ args: z.array(z.string()).min(1) }),
]);

const tool = z.strictObject({ name: z.string(), arguments: z.record(z.string(), z.unknown()).default({}) });

/** A tool that runs for `{seconds}`: where it stands in an argument, the number is put in its place. */
const tools = z
  .strictObject({ call: tool.optional(), slow: tool.optional() })
  .describe('Tools to call instead of echo and sleep.');

const headers = z
  .record(z.string(), z.string())
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
  args: z.array(z.string()).default([]).describe('{port} is replaced by a free port.'),
  cwd: z.string().optional(),
  env: z.record(z.string(), z.string()).default({}),
  url: z.string().min(1).describe('Where the endpoint is then, for example http://127.0.0.1:{port}/mcp.'),
  readiness: z
    .union([z.strictObject({ url: z.string() }), z.strictObject({ tcp: z.literal(true) })])
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
  version: z.literal(1),
  policy: z
    .strictObject({
      idleMax: duration.optional().describe('An abandoned session must be gone after this long.'),
      maxSessions: z.number().int().positive().optional().describe('Never more sessions than this at once.'),
    })
    .default({}),
  targets: z
    .record(z.string().regex(/^[A-Za-z0-9._-]+$/, 'letters, digits, . _ - only'), targetConfig)
    .default({}),
});

export type PackageTarget = z.infer<typeof packageTarget>;
export type CommandTarget = z.infer<typeof commandTarget>;
export type UrlTarget = z.infer<typeof urlTarget>;
export type TargetConfig = z.infer<typeof targetConfig>;
export type Config = z.infer<typeof configSchema>;
