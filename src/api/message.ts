/** A failed assertion in words: which claims, what was expected and observed, and why. */
import { plain } from '../report/plain.ts';
import { claimName, claimsWhere, groupBy, type PlacedClaim } from '../report/words.ts';
import { decides } from '../verdict/allowances.ts';
import type { Report } from '../verdict/schema.ts';

/** @param recording where it is kept */
export function explain(report: Report, recording: string): string {
  const promised = claimsWhere(report, (claim) => claim.promised);
  const failed = promised.filter(({ claim }) => decides(claim));
  const open = promised.filter(({ claim }) => claim.status === 'unmeasured');
  const target = report.builds.map((build) => build.name).join(', ');
  const blocks = [
    ...failed.map(failure),
    ...undecided(open),
    ...report.allowances
      .filter(({ stale }) => stale)
      .map(({ claim }) => `! allow.${claim} is stale: the claim was asked and failed nowhere. Remove it.`),
    ...(promised.length === 0 ? reasons(claimsWhere(report, () => true)) : []),
    ...report.notices.map(({ text }) => `! ${text}`),
  ];
  return [
    `${plain(target)}: ${sum(report, promised.length, failed.length, open.length)}`,
    ...blocks.map((block) => block.split('\n').map(plain).join('\n')),
    [`recording  ${recording}`, `more       npx mcp-retention report ${recording}`].join('\n'),
  ].join('\n\n');
}

function sum(report: Report, promised: number, failed: number, open: number): string {
  const parts = [
    ...(failed > 0 ? [`${failed} of ${promised} claims failed`] : []),
    ...(open > 0 ? [`${open} of ${promised} claims could not be measured`] : []),
    ...(promised === 0 ? ['no claim could be asked'] : []),
  ];
  if (parts.length > 0) return parts.join(', ');
  return report.verdict === 'fail' ? 'an allowance is stale' : 'the run did not come to its end';
}

const failure = (placed: PlacedClaim): string =>
  [
    `✗ ${claimName(placed)}  ${placed.claim.says}`,
    `    expected  ${placed.claim.expected}`,
    `    observed  ${placed.claim.observed}`,
    `    reason    ${placed.claim.reason}`,
  ].join('\n');

/** A reason that several claims share is said once. */
const undecided = (open: readonly PlacedClaim[]): string[] =>
  [...groupBy(open, ({ claim }) => claim.reason)].map(
    ([reason, same]) => `? ${[...new Set(same.map(claimName))].join(', ')}\n    not measured  ${reason}`,
  );

const reasons = (claims: readonly PlacedClaim[]): string[] =>
  [...groupBy(claims, ({ claim }) => claim.reason)].map(([reason]) => `? ${reason}`);
