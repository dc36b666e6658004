/** The section `exporter` of the configuration: where its metrics are served, and of which servers. */
import { basename, resolve } from 'node:path';
import { z } from 'zod';
import { CATALOGUE } from '../metrics/catalogue.ts';
import { ADDRESS_MEND, isOnLoopback, parseAddress } from './address.ts';

/** Names that a label of the operator's may not have. */
const TAKEN = new Map<string, string>([
  ...['job', 'instance', 'le', 'quantile'].map((name) => [name, "Prometheus' own"] as const),
  ...CATALOGUE.flatMap(({ labels }) => labels.map((name) => [name, "one of the exporter's own"] as const)),
]);
const LABEL_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

const address = z.string().refine((text) => parseAddress(text) !== null, { error: ADDRESS_MEND });

const labels = z
  .record(z.string(), z.string().min(1))
  .superRefine((given, context) => {
    for (const name of Object.keys(given)) {
      const wrong = wrongName(name);
      if (wrong !== null) context.addIssue({ code: 'custom', path: [name], message: wrong });
    }
  })
  .describe("Labels added to every series of this target; their names may not be the exporter's own.");

function wrongName(name: string): string | null {
  if (!LABEL_NAME.test(name)) return 'a label has letters, digits and _ and does not begin with a digit';
  if (name.startsWith('__')) return "names that begin with __ are Prometheus' own: choose another";
  const owner = TAKEN.get(name);
  return owner === undefined ? null : `this label is ${owner}: choose another name`;
}

const exportedTarget = z
  .strictObject({
    probeDir: z
      .string()
      .min(1)
      .optional()
      .describe("Directory of the probes' sockets; workers come and go in it."),
    probe: address
      .refine(isOnLoopback, { error: 'a probe listens on loopback alone: write 127.0.0.1:PORT' })
      .optional()
      .describe('Address of one probe, host:port on loopback.'),
    pid: z
      .number()
      .int()
      .positive()
      .optional()
      .describe('Process id of the server behind `probe`, so that its memory is there without the probe.'),
    build: z.string().min(1).optional().describe('The label `build`, in place of what the probe says.'),
    labels: labels.default({}),
  })
  .superRefine(({ probeDir, probe, pid }, context) => {
    const issue = (message: string, path: string[]): void =>
      context.addIssue({ code: 'custom', message, path });
    if (probeDir === undefined && probe === undefined) issue('name a probeDir or a probe', []);
    else if (probeDir !== undefined && probe !== undefined)
      issue('stands beside probeDir: keep one', ['probe']);
    else if (probeDir !== undefined && pid !== undefined)
      issue('goes with probe alone: in a probeDir the names of the files tell it', ['pid']);
  });

export const exporterConfig = z.strictObject({
  listen: address.optional().describe('host:port to serve /metrics on; --listen has precedence.'),
  targets: z
    .record(z.string().regex(/^[A-Za-z0-9._-]+$/, 'letters, digits, . _ - only'), exportedTarget)
    .default({})
    .describe('Servers by the label `target`.'),
});

export type ExporterConfig = z.infer<typeof exporterConfig>;

/** The label `target` of a probe directory that the configuration does not name. */
export function nameOfDirectory(directory: string): string {
  const path = resolve(directory);
  return basename(path) || path;
}

/** The label `target` under which the exporter has a probe directory: by the configuration, else by its own name. */
export function exportedName(directory: string, { targets }: ExporterConfig): string {
  const path = resolve(directory);
  const named = Object.entries(targets).find(
    ([, { probeDir }]) => probeDir !== undefined && resolve(probeDir) === path,
  );
  return named?.[0] ?? nameOfDirectory(path);
}
