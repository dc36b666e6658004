/**
 * Reads `mcp-retention.yaml`: a mistake is one sentence with the file's line, and nothing else happens.
 */
import { existsSync, readFileSync } from 'node:fs';
import { isNode, LineCounter, parseDocument, type Document } from 'yaml';
import type { z } from 'zod';
import { commandTarget, configSchema, packageTarget, urlTarget, type Config } from './schema.ts';

export const DEFAULT_CONFIG_FILE = 'mcp-retention.yaml';

/** The configuration is wrong. Exit code 2. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

/**
 * @param file a path, or undefined for mcp-retention.yaml in the working directory, which may be absent
 * @throws ConfigError
 */
export function loadConfig(file: string | undefined): Config {
  if (file === undefined && !existsSync(DEFAULT_CONFIG_FILE)) return configSchema.parse({ version: 1 });
  const path = file ?? DEFAULT_CONFIG_FILE;
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError(
      (error as NodeJS.ErrnoException).code === 'ENOENT'
        ? `there is no configuration ${path}: mcp-retention config init writes one.`
        : `cannot read the configuration ${path}: ${(error as Error).message}`,
    );
  }
  return parseConfig(text, path);
}

/** @throws ConfigError that names file, line, field and mend. */
export function parseConfig(text: string, path: string): Config {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const [broken] = document.errors;
  if (broken) {
    const { line } = lines.linePos(broken.pos[0]);
    throw new ConfigError(`${path}:${line}: this is not YAML: ${broken.message.split('\n')[0] ?? ''}`);
  }
  const value = withoutEmptySections(document.toJS());
  const parsed = configSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = narrow(parsed.error.issues[0], value);
  throw new ConfigError(`${path}:${lineOf(document, lines, issue.path)}: ${sentence(issue)}`);
}

/** A section whose entries are all commented out reads as null. */
function withoutEmptySections(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, section]) => section !== null));
}

type Issue = z.core.$ZodIssue;

/** A target that fits no kind is judged by the kind that its fields speak for. */
function narrow(issue: Issue | undefined, value: unknown): Issue {
  if (!issue) throw new ConfigError('the configuration is wrong');
  const [section, name] = issue.path;
  if (issue.code !== 'invalid_union' || section !== 'targets' || issue.path.length !== 2) return issue;
  const target =
    (value as { targets: Record<string, Record<string, unknown> | null> }).targets[String(name)] ?? {};
  const kind = 'package' in target ? packageTarget : 'command' in target ? commandTarget : urlTarget;
  const inner = kind.safeParse(target).error?.issues[0];
  return inner ? { ...inner, path: [...issue.path, ...inner.path] } : issue;
}

function sentence(issue: Issue): string {
  const field = issue.path.join('.') || 'the file';
  if (issue.code === 'unrecognized_keys')
    return `${field === 'the file' ? '' : `${field}: `}unknown key ${issue.keys.join(', ')}: remove it or correct its spelling.`;
  if (issue.code === 'invalid_union') {
    const said = issue.errors
      .flat()
      .find((inner) => inner.code !== 'invalid_type' && inner.code !== 'invalid_value');
    return `${field}: ${said?.message ?? 'has a value of the wrong kind'}.`;
  }
  return `${field}: ${issue.message}.`;
}

/** The line of the deepest part of the path that stands in the file. */
function lineOf(document: Document, lines: LineCounter, path: readonly PropertyKey[]): number {
  for (let length = path.length; length > 0; length--) {
    const node = document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
  }
  return 1;
}
