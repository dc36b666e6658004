/** What one target's sessions did and were told: into the ledgers, one for each kind, and into the metrics. */
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { KINDS, type Kind } from '../cases/mixed.ts';
import { methodOf } from '../cases/reject.ts';
import type { OpName } from '../drivers/context.ts';
import { Ledger, type Interval, type LedgerCounts, type LedgerPolicy } from '../ledger/ledger.ts';
import type { FloodRecord, OpRecord, Untimed } from '../recording/schema.ts';
import type { CaseMetrics, LateReason, LoadMetrics, TargetLabels } from './metrics.ts';
import type { Suspicion } from './watch.ts';

type Op = Untimed<OpRecord>;

const OVER_CAP_STATUS = 503;

/** Steps by which a session's id is used: 404 to one of them means that the server does not know it. */
const USES = new Set<string>(['initialized', 'call', 'stream']);

const METHODS: Readonly<Record<string, string>> = { stream: 'GET', delete: 'DELETE' };

export class Account {
  readonly ledgers: ReadonlyMap<Kind, Ledger>;
  readonly #metrics: ReadonlyMap<Kind, CaseMetrics>;
  readonly #durations: RecordableHistogram = createHistogram();
  readonly #suspect: (what: Suspicion) => void;
  late = 0;
  /** Sessions that the server refused to delete, although it knew them. */
  undeleted = 0;
  /** Requests in a row that got no answer. */
  unanswered = 0;

  /** @param suspect told of what a restart would explain */
  constructor(
    policy: LedgerPolicy,
    labels: TargetLabels,
    metrics: LoadMetrics,
    suspect: (what: Suspicion) => void,
  ) {
    this.ledgers = new Map(KINDS.map((kind) => [kind, new Ledger(policy)]));
    this.#metrics = new Map(
      [...this.ledgers].map(([kind, ledger]) => [kind, metrics.add(labels, kind, ledger)]),
    );
    this.#suspect = suspect;
  }

  begin(kind: Kind, session: string, step: OpName, at: number): void {
    this.ledgers.get(kind)?.begin({ session, step }, at);
  }

  end(kind: Kind, op: Untimed<OpRecord | FloodRecord>, endedAt: number): void {
    if (op.type !== 'op') return;
    this.ledgers.get(kind)?.end(op, endedAt - op.ms, endedAt);
    if (op.step === 'delete' && op.outcome === 'refused' && op.status !== 404) this.undeleted++;
    const suspicion = suspicionOf(op);
    if (suspicion !== null) this.#suspect(suspicion);
    if (op.step !== 'stream-end') this.#count(kind, op);
  }

  /** Nothing more will be done with this session. */
  forget(kind: Kind, session: string): void {
    this.ledgers.get(kind)?.forget(session);
  }

  leftOut(kind: Kind, reason: LateReason): void {
    this.late++;
    this.#metrics.get(kind)?.late(reason);
  }

  expectedAt(now: number): Interval {
    const all = [...this.ledgers.values()].map((ledger) => ledger.expectedAt(now));
    return { min: total(all.map(({ min }) => min)), max: total(all.map(({ max }) => max)) };
  }

  counts(): LedgerCounts {
    const all = [...this.ledgers.values()].map((ledger) => ledger.counts);
    const sum = (name: keyof LedgerCounts): number => total(all.map((counts) => counts[name]));
    return {
      opened: sum('opened'),
      deleted: sum('deleted'),
      abandoned: sum('abandoned'),
      refused: sum('refused'),
      uncertain: sum('uncertain'),
    };
  }

  /** Milliseconds within which this share of the answered requests was answered, in percent; null without any. */
  percentile(percent: number): number | null {
    return this.#durations.count === 0 ? null : this.#durations.percentile(percent) / 1000;
  }

  #count(kind: Kind, op: Op): void {
    const metrics = this.#metrics.get(kind);
    const answered = op.status !== undefined;
    // Of what was not sent, only an opening was meant to be: other steps are local for many a reason.
    if (op.outcome === 'local' && !isUnsent(op)) return;
    this.unanswered = answered ? 0 : this.unanswered + 1;
    metrics?.requested(httpMethod(op), op.status ?? 0);
    if (!answered) return;
    metrics?.answered(op.ms / 1000);
    this.#durations.record(Math.max(1, Math.round(op.ms * 1000)));
    if (op.outcome === 'refused' && isOpening(op))
      metrics?.refused(op.status === OVER_CAP_STATUS ? 'over-cap' : 'rejected');
  }
}

const total = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);

const isOpening = ({ step }: Op): boolean => step === 'open' || step === 'refuse';

const isUnsent = (op: Op): boolean => op.outcome === 'local' && (isOpening(op) || op.step === 'delete');

function suspicionOf(op: Op): Suspicion | null {
  if (isUnsent(op)) return 'unsent';
  if (op.outcome === 'broken') return 'broken';
  return op.status === 404 && USES.has(op.step) ? 'lost' : null;
}

function httpMethod(op: Op): string {
  return op.step === 'refuse' ? methodOf(op.kind ?? '') : (METHODS[op.step] ?? 'POST');
}
