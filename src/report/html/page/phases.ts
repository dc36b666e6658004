/** One sequence of phases for several arms. */
import type { ArmData } from '../data.ts';

type Span = ArmData['phases'][number];

/** Phases of the same name that follow each other are one: a case may play several stages in a phase. */
function merged(phases: readonly Span[]): Span[] {
  const spans: Span[] = [];
  for (const span of phases) {
    const last = spans.at(-1);
    if (last?.phase === span.phase) spans[spans.length - 1] = { ...last, to: span.to };
    else spans.push(span);
  }
  return spans;
}

/** The arms' mean where all went through the same phases, else those of the one that went through most. */
export function phaseSpans(arms: readonly ArmData[]): Span[] {
  const all = arms.map(({ phases }) => merged(phases));
  const longest = all.reduce((most, phases) => (phases.length > most.length ? phases : most), []);
  const names = (phases: readonly Span[]): string => phases.map(({ phase }) => phase).join();
  if (!all.every((phases) => names(phases) === names(longest))) return longest;
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  return longest.map(({ phase }, i) => ({
    phase,
    from: mean(all.map((phases) => phases[i]?.from ?? 0)),
    to: mean(all.map((phases) => phases[i]?.to ?? 0)),
  }));
}
