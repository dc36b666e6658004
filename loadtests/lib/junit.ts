/** The report as JUnit XML: one test case for each claim. */
import type { ClaimReport, Report } from '../../src/verdict/schema.ts';

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** XML has no way to write most control characters, so they are left out. */
const isWritable = (sign: string): boolean => sign >= ' ' || sign === '\n' || sign === '\t';

const escaped = (text: string): string =>
  Array.from(text, (sign) => ESCAPES[sign] ?? (isWritable(sign) ? sign : '')).join('');

export function junit(report: Report): string {
  const suites = report.builds.flatMap((build) =>
    build.cases.map((played) => suite(`${build.name} ${played.id}`, played.claims)),
  );
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join('')}</testsuites>\n`;
}

function suite(name: string, claims: readonly ClaimReport[]): string {
  const failures = claims.filter((claim) => claim.promised && claim.status === 'fail').length;
  const errors = claims.filter((claim) => claim.promised && claim.status === 'unmeasured').length;
  const skipped = claims.filter((claim) => !claim.promised).length;
  const counts = `tests="${claims.length}" failures="${failures}" errors="${errors}" skipped="${skipped}"`;
  const cases = claims.map((claim) => testCase(name, claim)).join('');
  return `  <testsuite name="${escaped(name)}" ${counts}>\n${cases}  </testsuite>\n`;
}

/** Not promised: skipped. Promised and unmeasured: an error, for it is not passed. */
function testCase(suiteName: string, claim: ClaimReport): string {
  const open = `    <testcase classname="${escaped(suiteName)}" name="${escaped(`${claim.id}: ${claim.says}`)}"`;
  const reason = escaped(claim.reason);
  if (!claim.promised) return `${open}><skipped message="${reason}"/></testcase>\n`;
  if (claim.status === 'pass') return `${open}/>\n`;
  const kind = claim.status === 'fail' ? 'failure' : 'error';
  return `${open}><${kind} message="${reason}"/></testcase>\n`;
}
