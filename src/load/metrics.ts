/**
 * The load side's metrics. What the ledgers count is taken over when a scrape asks for it; the identity of a
 * session never comes here.
 */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Kind } from '../cases/mixed.ts';
import type { Ledger, LedgerCounts } from '../ledger/ledger.ts';
import {
  clientAbandoned,
  clientArrivalsLate,
  clientDeleted,
  clientExpected,
  clientOpened,
  clientRefused,
  clientRequestDuration,
  clientRequests,
  clientUncertain,
} from '../metrics/catalogue.ts';
import type { Metric } from '../metrics/metric.ts';

/** Labels of a target's metrics. */
export interface TargetLabels {
  readonly target: string;
  readonly build: string;
}

/** full: all places were taken. behind: the load side itself was late. */
export type LateReason = 'full' | 'behind';
export type RefusalReason = 'over-cap' | 'rejected';

interface Labels extends TargetLabels {
  readonly case: Kind;
  readonly run: string;
}

const REFUSAL_REASONS: readonly RefusalReason[] = ['over-cap', 'rejected'];
const LATE_REASONS: readonly LateReason[] = ['full', 'behind'];
const COUNTED = ['opened', 'deleted', 'abandoned', 'uncertain'] as const;

/** One case on one target. */
export class CaseMetrics {
  readonly #of: LoadMetrics;
  readonly #labels: Labels;
  readonly #ledger: Ledger;
  #published: LedgerCounts = { opened: 0, deleted: 0, abandoned: 0, refused: 0, uncertain: 0 };

  constructor(of: LoadMetrics, labels: Labels, ledger: Ledger) {
    this.#of = of;
    this.#labels = labels;
    this.#ledger = ledger;
    // From the beginning, so that a rate sees the first of each.
    for (const reason of REFUSAL_REASONS) of.refused.inc({ ...labels, reason }, 0);
    for (const reason of LATE_REASONS) of.late.inc({ ...labels, reason }, 0);
    for (const name of COUNTED) of[name].inc(labels, 0);
  }

  /** @param status 0 where no answer arrived */
  requested(method: string, status: number): void {
    this.#of.requests.inc({ ...this.#labels, method, status: String(status) });
  }

  answered(seconds: number): void {
    this.#of.durations.observe(this.#labels, seconds);
  }

  refused(reason: RefusalReason): void {
    this.#of.refused.inc({ ...this.#labels, reason });
  }

  late(reason: LateReason): void {
    this.#of.late.inc({ ...this.#labels, reason });
  }

  publish(now: number): void {
    const { min, max } = this.#ledger.expectedAt(now);
    this.#of.expected.set({ ...this.#labels, bound: 'min' }, min);
    this.#of.expected.set({ ...this.#labels, bound: 'max' }, max);
    const counts = this.#ledger.counts;
    for (const name of COUNTED) this.#of[name].inc(this.#labels, counts[name] - this.#published[name]);
    this.#published = counts;
  }
}

export class LoadMetrics {
  readonly registry = new Registry();
  readonly opened = this.#counter(clientOpened);
  readonly deleted = this.#counter(clientDeleted);
  readonly abandoned = this.#counter(clientAbandoned);
  readonly uncertain = this.#counter(clientUncertain);
  readonly refused = this.#counter(clientRefused);
  readonly late = this.#counter(clientArrivalsLate);
  readonly requests = this.#counter(clientRequests);
  readonly expected = new Gauge({ ...definitionOf(clientExpected), registers: [this.registry] });
  readonly durations = new Histogram({
    ...definitionOf(clientRequestDuration),
    buckets: [...(clientRequestDuration.buckets ?? [])],
    registers: [this.registry],
  });
  readonly #run: string;
  readonly #cases: CaseMetrics[] = [];

  /** @param run names this run in the label `run` */
  constructor(run: string) {
    this.#run = run;
  }

  /** The metrics of one case on one target; its ledger is read at each `publish`. */
  add(target: TargetLabels, kind: Kind, ledger: Ledger): CaseMetrics {
    const metrics = new CaseMetrics(this, { ...target, case: kind, run: this.#run }, ledger);
    this.#cases.push(metrics);
    return metrics;
  }

  /** Brings the registry up to date: to be called before it is rendered. */
  publish(): void {
    const now = performance.now();
    for (const one of this.#cases) one.publish(now);
  }

  #counter<Label extends string>(metric: Metric<Label>): Counter<Label> {
    return new Counter({ ...definitionOf(metric), registers: [this.registry] });
  }
}

function definitionOf<Label extends string>({ name, help, labels }: Metric<Label>) {
  return { name, help, labelNames: [...labels] };
}
