/**
 * The library: measure a server from a program or a test. Nothing is printed, nothing exits; errors for people are one
 * sentence. See docs/library.md.
 */
export { assertReleases, RetentionError } from './api/assert.ts';
export { check } from './api/check.ts';
export { compare } from './api/compare.ts';
export type { AssertOptions, CheckOptions, CompareOptions } from './api/options.ts';
export type { Target } from './api/target.ts';
export type { Registry } from './probe/registry.ts';
export { UnreadableRecording } from './recording/reader.ts';
export { RecordingError } from './recording/writer.ts';
export { TargetError, UsageError } from './targets/target.ts';
export type {
  AllowanceReport,
  BuildReport,
  CaseReport,
  ChangeReport,
  ClaimReport,
  ComparisonReport,
  MemoryReport,
  PerformanceReport,
  Report,
  TimelineReport,
} from './verdict/schema.ts';
