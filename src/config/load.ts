/**
 * Reads `mcp-retention.yaml`: a mistake is one sentence with the file's line, and nothing else happens.
 */
import { existsSync } from 'node:fs';
import {
  isMap,
  isNode,
  isScalar,
  LineCounter,
  parseDocument,
  visit,
  type Document,
  type YAMLError,
} from 'yaml';
import type { z } from 'zod';
import { codeOf, reasonOf } from '../errno.ts';
import { bytesOf } from '../input.ts';
import { plainWords, sentence, type Issue } from './issues.ts';
import { commandTarget, configSchema, packageTarget, urlTarget, type Config } from './schema.ts';

export const DEFAULT_CONFIG_FILE = 'mcp-retention.yaml';

/** The configuration is wrong. Exit code 2. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

/**
 * @param file a path, or undefined for mcp-retention.yaml in the working directory, which may be absent
 * @param signal ends it, which matters where the path is a pipe that nobody writes to
 * @throws ConfigError; the signal's reason
 */
export async function loadConfig(file: string | undefined, signal?: AbortSignal): Promise<Config> {
  if (file === undefined && !existsSync(DEFAULT_CONFIG_FILE)) return configSchema.parse({ version: 1 });
  const path = file ?? DEFAULT_CONFIG_FILE;
  if (path === '') throw new ConfigError('the name of the configuration is empty: name a file.');
  return parseConfig(await textOf(path, signal), path);
}

async function textOf(path: string, signal: AbortSignal | undefined): Promise<string> {
  let bytes: Buffer;
  try {
    bytes = await bytesOf(path, signal);
  } catch (error) {
    signal?.throwIfAborted();
    throw new ConfigError(
      codeOf(error) === 'ENOENT'
        ? `there is no configuration ${path}: mcp-retention config init writes one.`
        : `cannot read the configuration ${path}: ${reasonOf(error)}.`,
    );
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new ConfigError(`${path} is not UTF-8 text: save it as UTF-8.`);
  }
}

/** @throws ConfigError that names file, line, field and mend. */
export const parseConfig = (text: string, path: string): Config =>
  parseYaml(text, path, configSchema, { prepare: keepSpelling, tidy: withoutEmptySections, narrow });

/** Sections of a target that become text: a number in them stands for what was written, `1.10` for no less. */
const TEXTS = ['args', 'env', 'headers', 'settings'];

function keepSpelling(document: Document): void {
  const targets = document.get('targets', true);
  for (const { value } of isMap(targets) ? targets.items : [])
    for (const section of TEXTS) {
      const node = isMap(value) ? value.get(section, true) : undefined;
      if (!isNode(node)) continue;
      visit(node, {
        Scalar: (_, scalar) => {
          const plain = typeof scalar.value === 'number' || typeof scalar.value === 'boolean';
          if (plain && scalar.source !== undefined) scalar.value = scalar.source;
        },
      });
    }
}

interface Reading {
  /** Changes the document before it is read by the schema. */
  readonly prepare?: (document: Document) => void;
  /** Changes the value before it is read by the schema. */
  readonly tidy?: (value: unknown) => unknown;
  /** Makes a schema's issue more exact before it is said. */
  readonly narrow?: (issue: Issue, value: unknown) => Issue;
}

/**
 * Reads YAML by a schema.
 * @throws ConfigError that names file, line, field and mend.
 */
export function parseYaml<T>(text: string, path: string, schema: z.ZodType<T>, reading: Reading = {}): T {
  const lines = new LineCounter();
  const document = parsedDocument(text, path, lines);
  reading.prepare?.(document);
  const written = valueOf(document, path);
  const value = reading.tidy === undefined ? written : reading.tidy(written);
  const parsed = schema.safeParse(value, { error: plainWords });
  if (parsed.success) return parsed.data;
  const [first] = parsed.error.issues;
  if (!first) throw new ConfigError(`${path}: the configuration is wrong`);
  const issue = reading.narrow?.(first, value) ?? first;
  const place = issue.code === 'unrecognized_keys' ? [...issue.path, ...issue.keys.slice(0, 1)] : issue.path;
  throw new ConfigError(`${path}:${lineOf(document, lines, place)}: ${sentence(issue)}`);
}

function parsedDocument(text: string, path: string, lines: LineCounter): Document {
  const document = parsedOrTooDeep(text, path, lines);
  // What is only warned of, such as an unknown tag, would be read as something else than was meant.
  const [broken] = [...document.errors, ...document.warnings];
  if (broken) {
    const { line } = lines.linePos(broken.pos[0]);
    throw new ConfigError(`${path}:${line}: ${whatIsBroken(broken, text)}`);
  }
  visit(document, {
    Pair: (_, { key }) => {
      if (!isScalar(key) || key.value !== '__proto__') return;
      const { line } = lines.linePos(key.range?.[0] ?? 0);
      throw new ConfigError(`${path}:${line}: __proto__ cannot be a name: choose another.`);
    },
  });
  return document;
}

function parsedOrTooDeep(text: string, path: string, lines: LineCounter): Document.Parsed {
  try {
    return parseDocument(text, { lineCounter: lines });
  } catch {
    throw new ConfigError(`${path}: this is not YAML that can be read: it nests too deeply.`);
  }
}

function whatIsBroken(broken: YAMLError, text: string): string {
  if (broken.code === 'DUPLICATE_KEY')
    return `${keyAt(text, broken.pos[0])} stands here twice: remove one of them.`;
  if (broken.code === 'MULTIPLE_DOCS') return 'a second document begins here: keep one.';
  if (broken.code === 'TAG_RESOLVE_FAILED') return 'a tag (!…) has no meaning here: remove it.';
  if (/call stack/.test(broken.message)) return 'this nests too deeply.';
  return `this is not YAML: ${broken.message.split('\n')[0] ?? ''}`;
}

function valueOf(document: Document, path: string): unknown {
  try {
    return document.toJS();
  } catch (error) {
    const said = (error as Error).message;
    throw new ConfigError(
      /excessive/i.test(said)
        ? `${path}: its aliases (*…) unfold to far too much: write less of it by alias.`
        : `${path}: ${said.split('\n')[0] ?? ''}: correct the alias (*…).`,
    );
  }
}

/** The key that begins at an offset. */
const keyAt = (text: string, offset: number): string => /^[^\s:,}]*/.exec(text.slice(offset))?.[0] ?? '';

/** A section whose entries are all commented out reads as null, and stands for its defaults. */
function withoutEmptySections(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, section]) => section !== null));
}

/** A target is judged by the kind that its fields speak for, not by the last kind that it does not fit. */
function narrow(issue: Issue, value: unknown): Issue {
  const [section, name] = issue.path;
  if (section !== 'targets' || name === undefined || issue.code === 'invalid_key') return issue;
  const target = (value as { targets: Record<string, unknown> }).targets[String(name)];
  const path = [section, name];
  const custom = (message: string): Issue => ({ code: 'custom', path, message, input: target });
  if (!isSection(target)) return custom('write a section with a package, a command or a url');
  const kind =
    'package' in target
      ? packageTarget
      : 'command' in target
        ? commandTarget
        : 'url' in target
          ? urlTarget
          : null;
  if (kind === null) return custom('name a package, a command or a url');
  const inner = kind.safeParse(target, { error: plainWords }).error?.issues[0];
  return inner ? { ...inner, path: [...path, ...inner.path] } : issue;
}

const isSection = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The line of the deepest part of the path that stands in the file. */
function lineOf(document: Document, lines: LineCounter, path: readonly PropertyKey[]): number {
  for (let length = path.length; length > 0; length--) {
    const node = document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
  }
  return 1;
}
