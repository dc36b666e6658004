/** One line of a recording: the record in it, or what is wrong with it. */
import { recordSchema, type ManagerSample, type RecordingRecord, type SampleRecord } from './schema.ts';

/** @returns the record, or the end of a sentence that begins with the line's number */
export function parseLine(line: string): RecordingRecord | string {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return 'is cut or no JSON';
  }
  if (isSample(value)) return value;
  const parsed = recordSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  return `is no record of this version (${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''})`;
}

/**
 * The same answer as the schema's, many times as fast: samples are nearly all of a long recording. What is refused
 * here goes to the schema, which says why.
 */
export function isSample(value: unknown): value is SampleRecord {
  const sample = value as Unchecked<SampleRecord> | null;
  return (
    typeof sample === 'object' &&
    sample !== null &&
    sample.type === 'sample' &&
    isTime(sample.t) &&
    typeof sample.arm === 'string' &&
    (sample.settled === undefined || typeof sample.settled === 'boolean') &&
    (sample.sessions === null || isSessions(sample.sessions)) &&
    (sample.memory === null || isMemory(sample.memory)) &&
    isCount(sample.requests) &&
    (sample.reason === undefined || typeof sample.reason === 'string')
  );
}

type Unchecked<T> = { readonly [K in keyof T]?: unknown };

const isNumber = (value: unknown): boolean => Number.isFinite(value);
const isTime = (value: unknown): boolean => isNumber(value) && (value as number) >= 0;
const isPositive = (value: unknown): boolean => isNumber(value) && (value as number) > 0;
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isString = (value: unknown): boolean => typeof value === 'string';

function isSessions(value: unknown): boolean {
  const sessions = value as Unchecked<NonNullable<SampleRecord['sessions']>> | undefined;
  return (
    typeof sessions === 'object' &&
    typeof sessions.supported === 'boolean' &&
    Array.isArray(sessions.managers) &&
    sessions.managers.every(isManager)
  );
}

function isManager(value: unknown): boolean {
  const manager = value as Unchecked<ManagerSample> | null;
  return (
    typeof manager === 'object' &&
    manager !== null &&
    isString(manager.worker) &&
    isString(manager.manager) &&
    isNumber(manager.startedAt) &&
    isNumber(manager.takenAt) &&
    isCount(manager.registered) &&
    isCount(manager.registeredAtStart) &&
    isCount(manager.registrations) &&
    isCount(manager.removals) &&
    isCount(manager.expirations) &&
    isCount(manager.rejections) &&
    isCount(manager.inFlight) &&
    isCount(manager.streamsOpen) &&
    isCount(manager.remnants) &&
    (manager.oldestIdleSeconds === null || isTime(manager.oldestIdleSeconds)) &&
    (manager.idleTimeoutSeconds === null || isPositive(manager.idleTimeoutSeconds)) &&
    (manager.sessionLimit === null || (isCount(manager.sessionLimit) && manager.sessionLimit !== 0)) &&
    isCount(manager.requestsCompleted) &&
    (manager.unknown === undefined || (Array.isArray(manager.unknown) && manager.unknown.every(isString)))
  );
}

function isMemory(value: unknown): boolean {
  const memory = value as Unchecked<NonNullable<SampleRecord['memory']>> | undefined;
  return (
    typeof memory === 'object' &&
    isCount(memory.rssBytes) &&
    (memory.fds === null || isCount(memory.fds)) &&
    (memory.children === null || isCount(memory.children)) &&
    (memory.limitBytes === null || isCount(memory.limitBytes))
  );
}
