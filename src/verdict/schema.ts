/**
 * The JSON report, version 1. Everything in it follows from the recording alone.
 */
import { z } from 'zod';

export const REPORT_SCHEMA = 'mcp-retention/report/v1';

const status = z.enum(['pass', 'fail', 'unmeasured']);
const interval = z.object({ min: z.number(), max: z.number() });

export const claimReport = z.object({
  id: z.string(),
  says: z.string(),
  status,
  /** False: this kind of target cannot be asked the claim, so it does not make the run undecided. */
  promised: z.boolean(),
  expected: z.string(),
  observed: z.string(),
  /** For fail and unmeasured: what it means, and for unmeasured what to do. */
  reason: z.string(),
});

export const memoryReport = z.object({
  startBytes: z.number().nullable(),
  endBytes: z.number().nullable(),
  peakBytes: z.number().nullable(),
  /** Evidence, not verdict: robust slope of resident memory over sessions, KiB per session, 95 % block bootstrap. */
  kibPerSession: z.object({ estimate: z.number(), low: z.number(), high: z.number() }).nullable(),
  limitBytes: z.number().nullable(),
  /** cap × KiB per session against the memory limit, where all three are known. */
  capacity: z
    .object({ sessionLimit: z.number(), bytes: z.number(), limitBytes: z.number(), fits: z.boolean() })
    .nullable(),
});

export const caseReport = z.object({
  id: z.string(),
  title: z.string(),
  status,
  reason: z.string(),
  settings: z.record(z.string(), z.union([z.number(), z.null()])),
  size: z.object({ sessions: z.number(), warmUp: z.number(), concurrency: z.number() }),
  claims: z.array(claimReport),
  ledger: z.object({
    opened: z.number(),
    deleted: z.number(),
    abandoned: z.number(),
    refused: z.number(),
    uncertain: z.number(),
  }),
  sessions: z
    .object({
      /** At the moment that the case judges (settled). */
      registered: z.number(),
      expected: interval,
      retentionDrift: z.number(),
      /** The largest absolute value over all samples. */
      identityDrift: z.number(),
      remnants: z.number(),
      samples: z.number(),
      /** One retained session in this many would have been seen. */
      detectionFloor: z.number(),
    })
    .nullable(),
  memory: memoryReport,
  requests: z.object({ completed: z.number(), broken: z.number(), perSecond: z.number().nullable() }),
});

export const buildReport = z.object({
  name: z.string(),
  kind: z.string(),
  sdk: z.string().nullable(),
  version: z.string().nullable(),
  config: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
  packages: z.record(z.string(), z.string()),
  cases: z.array(caseReport),
});

export const reportSchema = z.object({
  schema: z.literal(REPORT_SCHEMA),
  tool: z.object({ name: z.string(), version: z.string() }),
  host: z.record(z.string(), z.union([z.string(), z.number()])),
  startedAt: z.string(),
  complete: z.boolean(),
  notices: z.array(z.object({ build: z.string().nullable(), case: z.string().nullable(), text: z.string() })),
  builds: z.array(buildReport),
  /** Filled by the release check; null in a report without one. */
  comparison: z.null(),
  verdict: z.enum(['pass', 'fail', 'inconclusive']),
});

export type ClaimReport = z.infer<typeof claimReport>;
export type MemoryReport = z.infer<typeof memoryReport>;
export type CaseReport = z.infer<typeof caseReport>;
export type BuildReport = z.infer<typeof buildReport>;
export type Report = z.infer<typeof reportSchema>;
