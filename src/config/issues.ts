/** What is wrong with a configuration, in plain sentences that name the field and never repeat its value. */
import type { z } from 'zod';

export type Issue = z.core.$ZodIssue;

const WANTED: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list such as [one, two]',
  object: 'a section of names and values',
  record: 'a section of names and values',
};

function instead(value: unknown): string {
  // Of a number that does not fit, what is wanted says enough.
  if (typeof value === 'number') return Number.isFinite(value) ? '' : ', not infinity';
  if (value === null) return ', not nothing';
  if (Array.isArray(value)) return ', not a list';
  if (typeof value === 'object') return ', not a section';
  return typeof value === 'string' ? ', not text' : '';
}

type RawIssue = Parameters<z.core.$ZodErrorMap>[0];

/** zod's own wording, replaced wherever a schema does not say anything itself. */
export const plainWords = (issue: RawIssue): string => {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is missing: add it';
      return issue.input === null && (issue.path ?? []).length === 0
        ? 'is empty: mcp-retention config init writes a commented one'
        : `write ${WANTED[issue.expected] ?? issue.expected}${instead(issue.input)}`;
    case 'invalid_value':
      if (issue.input === undefined) return 'is missing: add it';
      return `write ${issue.values.map(String).join(' or ')}`;
    case 'too_small':
      if (issue.origin === 'string' || issue.origin === 'array') return 'must not be empty';
      return `must be ${issue.inclusive ? 'at least' : 'more than'} ${String(issue.minimum)}`;
    case 'too_big':
      return `must be ${issue.inclusive ? 'at most' : 'less than'} ${String(issue.maximum)}`;
    case 'invalid_key':
      return issue.issues[0]?.message ?? 'this name cannot be used';
    default:
      return 'is not written as it should be';
  }
};

export function sentence(issue: Issue): string {
  const field = issue.path.join('.');
  if (issue.code === 'unrecognized_keys')
    return `${field === '' ? '' : `${field}: `}unknown key ${issue.keys.join(', ')}: remove it or correct its spelling.`;
  return `${field === '' ? 'the file' : field}: ${issue.message}.`;
}
