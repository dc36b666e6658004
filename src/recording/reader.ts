/**
 * Reads a recording back, whole, cut or damaged: gives what it can and says what is missing.
 */
import { join } from 'node:path';
import { codeOf, reasonOf } from '../errno.ts';
import { eachLine, MOST_LINE_BYTES } from './lines.ts';
import { parseLine } from './parse.ts';
import { Samples } from './samples.ts';
import {
  READABLE_SCHEMAS,
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
import { RECORDING_FILE } from './writer.ts';

/** Everything recorded about one arm. */
export interface ArmEvents {
  readonly arm: ArmRecord;
  readonly ops: OpRecord[];
  readonly floods: FloodRecord[];
  readonly samples: Samples;
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
  /** Sentences about lines that could not be read; of very many, the first, and how many more there are. */
  readonly damage: string[];
}

/** The file is no recording at all, or one of another version. Exit code 2. */
export class UnreadableRecording extends Error {
  override name = 'UnreadableRecording';
}

/**
 * @param signal ends it, which matters where the path is a pipe that nobody writes to
 * @throws UnreadableRecording with one sentence; the signal's reason
 */
export async function readRecording(path: string, signal?: AbortSignal): Promise<Recording> {
  const assembly = new Assembly(path);
  try {
    await eachLine(path, (line) => assembly.take(line), signal);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof UnreadableRecording) throw error;
    throw new UnreadableRecording(unread(path, error));
  }
  return assembly.finish();
}

function unread(path: string, error: unknown): string {
  if (codeOf(error) === 'ENOENT') return `there is no recording ${path}.`;
  if (codeOf(error) === 'EISDIR')
    return `${path} is a folder: name the recording in it, such as ${join(path, RECORDING_FILE)}.`;
  return `cannot read the recording ${path}: ${reasonOf(error)}.`;
}

/** Puts lines together to a recording; lines may come from anywhere. */
export async function assemble(
  lines: AsyncIterable<string> | Iterable<string>,
  path = 'recording',
): Promise<Recording> {
  const assembly = new Assembly(path);
  for await (const line of lines) assembly.take(line);
  return assembly.finish();
}

/** More sentences about damage tell a reader nothing new. */
const MOST_DAMAGE = 100;

class Assembly {
  readonly #path: string;
  readonly #arms = new Map<string, ArmEvents>();
  readonly #texts = new Map<string, string>();
  #recording: Recording | null = null;
  #number = 0;
  #endedAt: number | null = null;
  #unsaid = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** @param line null: longer than any record */
  take(line: string | null): void {
    this.#number++;
    if (line?.trim() === '') return;
    const recording = this.#recording;
    if (!recording) {
      this.#recording = begin(line, this.#path);
      return;
    }
    const record = line === null ? TOO_LONG : parseLine(line);
    if (this.#endedAt !== null) this.#damage(recording, `stands after the end (line ${this.#endedAt})`);
    const wrong = typeof record === 'string' ? record : this.#add(recording, record);
    if (wrong !== null) this.#damage(recording, wrong);
    if (recording.end) this.#endedAt ??= this.#number;
  }

  finish(): Recording {
    const recording = this.#recording;
    if (!recording) throw new UnreadableRecording(`${this.#path} is empty: it is no recording.`);
    if (this.#unsaid > 0)
      recording.damage.push(
        `${this.#unsaid} times more a line could not be used, up to line ${this.#number}`,
      );
    // What was interrupted may lack an arm's end; what came to its end may not.
    if (recording.end?.reason === 'complete')
      for (const { arm, end } of recording.arms)
        if (!end) recording.damage.push(`arm ${arm.arm} (${arm.case} on ${arm.build}) has no end`);
    return recording;
  }

  #damage(recording: Recording, wrong: string): void {
    if (recording.damage.length < MOST_DAMAGE) recording.damage.push(`line ${this.#number} ${wrong}`);
    else this.#unsaid++;
  }

  /** @returns what is wrong with it, or null */
  #add(recording: Recording, record: RecordingRecord): string | null {
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
        recording.end ??= record;
        return null;
      case 'arm':
        return this.#begin(recording, record);
      default:
        return this.#addToArm(record) ? null : 'speaks of an unknown arm';
    }
  }

  #begin(recording: Recording, arm: ArmRecord): string | null {
    if (this.#arms.has(arm.arm)) return `begins arm ${arm.arm} a second time and was passed over`;
    const samples = new Samples(arm.arm);
    const events = { arm, ops: [], floods: [], samples, phases: [], targets: [], end: null };
    this.#arms.set(arm.arm, events);
    recording.arms.push(events);
    return null;
  }

  #addToArm(record: OfArm): boolean {
    const events = this.#arms.get(record.arm);
    if (!events) return false;
    if (record.type === 'op') events.ops.push(this.#shared(record));
    else if (record.type === 'sample') events.samples.push(record);
    else if (record.type === 'phase') events.phases.push(record);
    else if (record.type === 'flood') events.floods.push(record);
    else if (record.type === 'target') events.targets.push(record);
    else events.end = record;
    return true;
  }

  /** Every line brings its own copies of the same few texts: they would take more memory than all else. */
  #shared(op: OpRecord): OpRecord {
    op.arm = this.#share(op.arm);
    op.stage = this.#share(op.stage);
    op.session = this.#share(op.session);
    op.step = this.#share(op.step);
    if (op.kind !== undefined) op.kind = this.#share(op.kind);
    if (op.note !== undefined) op.note = this.#share(op.note);
    return op;
  }

  #share(text: string): string {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    this.#texts.set(text, text);
    return text;
  }
}

type OfArm = OpRecord | FloodRecord | SampleRecord | PhaseRecord | TargetRecord | ArmEndRecord;

const TOO_LONG = `is longer than any record (${MOST_LINE_BYTES / 2 ** 20} MiB)`;

/** What compressed files begin with, decoded as UTF-8. */
const COMPRESSED: readonly (readonly [start: string, name: string])[] = [
  ['\x1f\ufffd\b', 'gzip'],
  ['PK\x03\x04', 'zip'],
  ['(\ufffd/\ufffd', 'zstd'],
];

function begin(line: string | null, path: string): Recording {
  // An editor may have put a byte order mark there.
  const record = line === null ? TOO_LONG : parseLine(line.replace(/^\uFEFF/, ''));
  if (typeof record === 'string' || record.type !== 'header')
    throw new UnreadableRecording(`${path} ${noHeader(line ?? '', record)}`);
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
}

function noHeader(line: string, record: RecordingRecord | string): string {
  const packed = COMPRESSED.find(([start]) => line.startsWith(start));
  if (packed) return `is compressed (${packed[1]}): unpack it and name the recording in it.`;
  const version = /"schema"\s*:\s*"(mcp-retention\/recording\/[^"]+)"/.exec(line)?.[1];
  if (version === undefined || typeof record !== 'string')
    return 'is no recording: its first line is not a header.';
  return READABLE_SCHEMAS.some((readable) => readable === version)
    ? `cannot be read: its first line, the header, ${record}.`
    : `is a recording of another version (${version}); this release reads ${READABLE_SCHEMAS.join(' and ')}.`;
}
