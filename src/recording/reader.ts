/**
 * Reads a recording back, whole, cut or damaged: gives what it can and says what is missing.
 */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import {
  READABLE_SCHEMAS,
  recordSchema,
  type ArmEndRecord,
  type ArmRecord,
  type BlockRecord,
  type BuildRecord,
  type ComparisonRecord,
  type EndRecord,
  type FloodRecord,
  type HeaderRecord,
  type NoticeRecord,
  type OpRecord,
  type PhaseRecord,
  type RecordingRecord,
  type SampleRecord,
  type SweepRecord,
  type TargetRecord,
} from './schema.ts';
import { codeOf, reasonOf } from '../errno.ts';

/** Everything recorded about one arm. */
export interface ArmEvents {
  readonly arm: ArmRecord;
  readonly ops: OpRecord[];
  readonly floods: FloodRecord[];
  readonly samples: SampleRecord[];
  readonly phases: PhaseRecord[];
  readonly targets: TargetRecord[];
  end: ArmEndRecord | null;
}

export interface Recording {
  readonly header: HeaderRecord;
  readonly builds: BuildRecord[];
  readonly arms: ArmEvents[];
  readonly blocks: BlockRecord[];
  readonly notices: NoticeRecord[];
  comparison: ComparisonRecord | null;
  sweep: SweepRecord | null;
  /** The last line, or null where the recording was cut. */
  end: EndRecord | null;
  /** Sentences about lines that could not be read. */
  readonly damage: string[];
}

/** The file is no recording at all, or one of another version. Exit code 2. */
export class UnreadableRecording extends Error {
  override name = 'UnreadableRecording';
}

/** @throws UnreadableRecording with one sentence. */
export async function readRecording(path: string): Promise<Recording> {
  const lines = createInterface({ input: createReadStream(path, 'utf8'), crlfDelay: Infinity });
  try {
    return await assemble(lines, path);
  } catch (error) {
    if (error instanceof UnreadableRecording) throw error;
    throw new UnreadableRecording(
      codeOf(error) === 'ENOENT'
        ? `there is no recording ${path}.`
        : `cannot read the recording ${path}: ${reasonOf(error)}.`,
    );
  }
}

/** Puts lines together to a recording; lines may come from anywhere. */
export async function assemble(
  lines: AsyncIterable<string> | Iterable<string>,
  path = 'recording',
): Promise<Recording> {
  let recording: Recording | null = null;
  const arms = new Map<string, ArmEvents>();
  let number = 0;
  let endedAt: number | null = null;
  for await (const line of lines) {
    number++;
    if (line.trim() === '') continue;
    // An editor may have put a byte order mark there.
    const record = parse(recording ? line : line.replace(/^\uFEFF/, ''));
    if (!recording) {
      recording = begin(record, line, path);
      continue;
    }
    if (endedAt !== null) recording.damage.push(`line ${number} stands after the end (line ${endedAt})`);
    const wrong = typeof record === 'string' ? record : add(recording, arms, record);
    if (wrong !== null) recording.damage.push(`line ${number} ${wrong}`);
    if (recording.end) endedAt ??= number;
  }
  if (!recording) throw new UnreadableRecording(`${path} is empty: it is no recording.`);
  // What was interrupted may lack an arm's end; what came to its end may not.
  if (recording.end?.reason === 'complete')
    for (const { arm, end } of recording.arms)
      if (!end) recording.damage.push(`arm ${arm.arm} (${arm.case} on ${arm.build}) has no end`);
  return recording;
}

function parse(line: string): RecordingRecord | string {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return 'is cut or no JSON';
  }
  const parsed = recordSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  return `is no record of this version (${parsed.error.issues[0]?.path.join('.') ?? ''}: ${parsed.error.issues[0]?.message ?? ''})`;
}

function begin(record: RecordingRecord | string, line: string, path: string): Recording {
  if (typeof record !== 'string' && record.type === 'header')
    return {
      header: record,
      builds: [],
      arms: [],
      blocks: [],
      notices: [],
      comparison: null,
      sweep: null,
      end: null,
      damage: [],
    };
  const version = /"schema"\s*:\s*"(mcp-retention\/recording\/[^"]+)"/.exec(line)?.[1];
  throw new UnreadableRecording(
    version && !READABLE_SCHEMAS.some((readable) => readable === version)
      ? `${path} is a recording of another version (${version}); this release reads ${READABLE_SCHEMAS.join(' and ')}.`
      : `${path} is no recording: its first line is not a header.`,
  );
}

/** @returns what is wrong with it, or null */
function add(recording: Recording, arms: Map<string, ArmEvents>, record: RecordingRecord): string | null {
  switch (record.type) {
    case 'header':
      return 'is a second header and was passed over';
    case 'build':
      recording.builds.push(record);
      return null;
    case 'notice':
      recording.notices.push(record);
      return null;
    case 'block':
      recording.blocks.push(record);
      return null;
    case 'comparison':
      recording.comparison = record;
      return null;
    case 'sweep':
      recording.sweep = record;
      return null;
    case 'end':
      recording.end = record;
      return null;
    case 'arm': {
      if (arms.has(record.arm)) return `begins arm ${record.arm} a second time and was passed over`;
      const events = { arm: record, ops: [], floods: [], samples: [], phases: [], targets: [], end: null };
      arms.set(record.arm, events);
      recording.arms.push(events);
      return null;
    }
    default:
      return addToArm(arms.get(record.arm), record) ? null : 'speaks of an unknown arm';
  }
}

type OfArm = OpRecord | FloodRecord | SampleRecord | PhaseRecord | TargetRecord | ArmEndRecord;

function addToArm(events: ArmEvents | undefined, record: OfArm): boolean {
  if (!events) return false;
  if (record.type === 'op') events.ops.push(record);
  else if (record.type === 'sample') events.samples.push(record);
  else if (record.type === 'phase') events.phases.push(record);
  else if (record.type === 'flood') events.floods.push(record);
  else if (record.type === 'target') events.targets.push(record);
  else events.end = record;
  return true;
}
