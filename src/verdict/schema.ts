/**
 * The JSON report, version 1. Everything in it follows from the recording alone.
 */
import { z } from 'zod';
import { originRecord } from '../recording/schema.ts';

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
  /** Why its failure is allowed, by the configuration; null where it is not. */
  allowed: z.string().nullable(),
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

/** An allowed failure. It is stale where the claim was asked, was measured and failed nowhere. */
export const allowanceReport = z.object({ claim: z.string(), reason: z.string(), stale: z.boolean() });

/** What became of one claim of one case from the baseline to the candidate. */
export const changeReport = z.object({
  case: z.string(),
  claim: z.string(),
  says: z.string(),
  /**
   * fixed: failed and passes. regressed: passed and fails, or failed and now keeps (or drops) more sessions.
   * same: the same status. unmeasured: at least one side has no finding, so that a change cannot be told.
   */
  change: z.enum(['fixed', 'regressed', 'same', 'unmeasured']),
  /** `unasked`: the case was not played, or this target cannot be asked the claim. */
  baseline: z.object({ status: z.enum([...status.options, 'unasked']), observed: z.string() }),
  candidate: z.object({ status: z.enum([...status.options, 'unasked']), observed: z.string() }),
  /** One sentence. */
  reason: z.string(),
  /** Whether it leaves the comparison undecided: the baseline passed, and the candidate does not tell. */
  open: z.boolean(),
  allowed: z.string().nullable(),
});

/** Speed and memory of both builds, by robust statistics over interleaved blocks. */
export const performanceReport = z.object({
  blocks: z.number(),
  smallestEffect: z.number(),
  /** Whether worse speed fails the check. */
  decides: z.boolean(),
  /** Why nothing is decided from speed, in one sentence, or null. */
  obstacle: z.string().nullable(),
  measures: z.array(
    z.object({
      id: z.enum(['calls-p50', 'calls-p99', 'calls-per-second', 'kib-per-session', 'start']),
      title: z.string(),
      unit: z.string(),
      /** Medians over blocks; null where it was not measured. */
      baseline: z.number().nullable(),
      candidate: z.number().nullable(),
      /** Relative change of the medians, candidate against baseline, with its bootstrap interval: 0.1 is 10 % more. */
      change: z.object({ estimate: z.number(), low: z.number(), high: z.number() }).nullable(),
      /** shown: this measure never decides. */
      decision: z.enum(['worse', 'better', 'same', 'undecided', 'shown']),
      /** Whether `worse` may fail the check where speed decides. */
      mayFail: z.boolean(),
    }),
  ),
});

export const comparisonReport = z.object({
  baseline: z.string(),
  candidate: z.string(),
  /** null: measured in this run. */
  origins: z.object({ baseline: originRecord.nullable(), candidate: originRecord.nullable() }),
  changes: z.array(changeReport),
  /** Packages and configuration that differ; null: that side has none. */
  differences: z.array(
    z.object({ name: z.string(), baseline: z.string().nullable(), candidate: z.string().nullable() }),
  ),
  performance: performanceReport.nullable(),
});

/** Since which version what is kept, until which: one row a claim. */
export const timelineReport = z.object({
  package: z.string(),
  mode: z.enum(['all', 'bisect']),
  /** Oldest first. `assumed`: not measured, because both neighbours that were are the same. */
  versions: z.array(
    z.object({
      version: z.string(),
      state: z.enum(['measured', 'partly', 'failed', 'assumed']),
      reason: z.string(),
    }),
  ),
  claims: z.array(
    z.object({
      id: z.string(),
      says: z.string(),
      /** Neighbouring versions of one release line (the same major version) with the same status. */
      spans: z.array(
        z.object({
          from: z.string(),
          to: z.string(),
          status: z.enum([...status.options, 'unasked']),
          reason: z.string(),
        }),
      ),
    }),
  ),
});

export const reportSchema = z.object({
  schema: z.literal(REPORT_SCHEMA),
  tool: z.object({ name: z.string(), version: z.string() }),
  host: z.record(z.string(), z.union([z.string(), z.number()])),
  startedAt: z.string(),
  complete: z.boolean(),
  notices: z.array(z.object({ build: z.string().nullable(), case: z.string().nullable(), text: z.string() })),
  builds: z.array(buildReport),
  allowances: z.array(allowanceReport),
  /** Of a release check; null in a report without one. */
  comparison: comparisonReport.nullable(),
  /** Of a sweep over versions; null in a report without one. */
  timeline: timelineReport.nullable(),
  /** Of a comparison: fail where something got worse. Else: fail where a promised claim failed. */
  verdict: z.enum(['pass', 'fail', 'inconclusive']),
});

export type ClaimReport = z.infer<typeof claimReport>;
export type MemoryReport = z.infer<typeof memoryReport>;
export type CaseReport = z.infer<typeof caseReport>;
export type BuildReport = z.infer<typeof buildReport>;
export type AllowanceReport = z.infer<typeof allowanceReport>;
export type ChangeReport = z.infer<typeof changeReport>;
export type PerformanceReport = z.infer<typeof performanceReport>;
export type ComparisonReport = z.infer<typeof comparisonReport>;
export type TimelineReport = z.infer<typeof timelineReport>;
export type Report = z.infer<typeof reportSchema>;
