/** What a scrape of the exporter costs: with many workers, with many sessions, and after many scrapes. */
import { percentile, type Benchmark, type Outcome } from './support/benchmark.ts';
import { startExporter, type ExporterProcess } from './support/exporter-process.ts';
import { FAKE_SESSIONS, startFakeProbes, type FakeWorkers } from './support/fake-probes.ts';
import { startManySessions } from './support/many-sessions.ts';
import { withFolder } from './support/sessions.ts';

const WORKERS = 100;
const SCRAPES = 100;
const WARM_UP = 20;
const FEW = 100;
const MANY = 100_000;
const ENDURANCE = [1_000, 5_000, 10_000];
const ENDURANCE_WORKERS = 2;
/** What does not fit into this is left out, and said. */
const ENDURANCE_MS = 90_000;
const READ_EVERY = 20;
const MIB = 1024 * 1024;

interface Timing {
  readonly p50: number;
  readonly p95: number;
}

/** @param expected sessions that must be registered in sum, so that only whole scrapes count */
async function timed(exporter: ExporterProcess, expected: number): Promise<Timing> {
  const times: number[] = [];
  for (let i = -WARM_UP; i < SCRAPES; i++) {
    const began = performance.now();
    const page = await exporter.scrape();
    if (i >= 0) times.push(performance.now() - began);
    if (registered(page) !== expected) throw new Error(`the exporter shows ${registered(page)} sessions`);
  }
  return { p50: percentile(times, 0.5), p95: percentile(times, 0.95) };
}

const registered = (page: string): number =>
  [...page.matchAll(/^mcp_sessions_registered\{.*\} (\d+)$/gm)].reduce((sum, [, n]) => sum + Number(n), 0);

function withFakes<T>(
  workers: number,
  kind: FakeWorkers,
  use: (exporter: ExporterProcess) => Promise<T>,
): Promise<T> {
  return withFolder(async (folder) => {
    const probes = await startFakeProbes(folder, workers, kind);
    const exporter = await startExporter(folder);
    try {
      return await use(exporter);
    } finally {
      await exporter.stop();
      await probes.stop();
    }
  });
}

/** The same process with few sessions and then with many. */
function ofManySessions(): Promise<{ few: Timing; many: Timing }> {
  return withFolder(async (folder) => {
    const server = startManySessions(folder);
    await server.grow(FEW);
    const exporter = await startExporter(folder);
    try {
      const few = await timed(exporter, FEW);
      await server.grow(MANY);
      return { few, many: await timed(exporter, MANY) };
    } finally {
      await exporter.stop();
      await server.stop();
    }
  });
}

/** Resident memory rises and falls with the garbage collector: so the whole stretch is told, not a moment of it. */
interface Stretch {
  readonly scrapes: number;
  readonly lowestBytes: number;
  readonly medianBytes: number;
  readonly highestBytes: number;
}

const endure = (): Promise<Stretch[]> =>
  withFakes(ENDURANCE_WORKERS, 'visible', async (exporter) => {
    const stretches: Stretch[] = [];
    const began = performance.now();
    let readings: number[] = [];
    for (let scrapes = 1; scrapes <= Math.max(...ENDURANCE); scrapes++) {
      await exporter.scrape();
      if (scrapes % READ_EVERY === 0) readings.push(exporter.rssBytes());
      const late = performance.now() - began > ENDURANCE_MS;
      if (!late && !ENDURANCE.includes(scrapes)) continue;
      stretches.push({
        scrapes,
        lowestBytes: Math.min(...readings),
        medianBytes: percentile(readings, 0.5),
        highestBytes: Math.max(...readings),
      });
      readings = [];
      if (late) break;
    }
    return stretches;
  });

const mib = (bytes: number): string => (bytes / MIB).toFixed(0);

const showStretch = ({ scrapes, lowestBytes, medianBytes, highestBytes }: Stretch): string =>
  `${mib(medianBytes)} (${mib(lowestBytes)}–${mib(highestBytes)}) MiB up to ${scrapes.toLocaleString('en')}`;

async function run(): Promise<Outcome> {
  const visible = await withFakes(WORKERS, 'visible', (exporter) => timed(exporter, WORKERS * FAKE_SESSIONS));
  const elsewhere = await withFakes(WORKERS, 'elsewhere', (exporter) =>
    timed(exporter, WORKERS * FAKE_SESSIONS),
  );
  const { few, many } = await ofManySessions();
  const stretches = await endure();
  const row = (what: string, { p50, p95 }: Timing): string[] => [what, p50.toFixed(1), p95.toFixed(1)];
  const cut = stretches.at(-1)?.scrapes !== Math.max(...ENDURANCE);
  return {
    head: ['scrape of', 'median ms', '95 % ms'],
    rows: [
      row(`${WORKERS} workers, whose /proc is visible`, visible),
      row(`${WORKERS} workers in other containers`, elsewhere),
      row(`1 worker, ${FEW.toLocaleString('en')} sessions`, few),
      row(`1 worker, ${MANY.toLocaleString('en')} sessions`, many),
    ],
    notes: [
      `${SCRAPES} scrapes each over HTTP, one after another; probes, exporter and scraper share this machine's processors. The two with sessions read the Python probe, the others stubs of it.`,
      `${MANY.toLocaleString('en')} sessions take ${(many.p50 / few.p50).toFixed(2)} times as long as ${FEW}.`,
      `Exporter's resident memory, median (lowest–highest) since the number before: ${stretches.map(showStretch).join(', ')} scrapes of ${ENDURANCE_WORKERS} workers${cut ? ', cut by time' : ''}.`,
    ],
    figures: { visible, elsewhere, few, many, stretches },
  };
}

export const scrape: Benchmark = { name: 'scrape', title: 'A scrape of the exporter', run };
