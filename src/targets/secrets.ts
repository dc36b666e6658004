/**
 * What may be a secret in texts that are shown or kept: log lines, command lines, URLs. The one place that knows.
 */

const SECRET = '[secret]';
/** Names of flags, variables and fields that hold one. */
const NAME = String.raw`[\w.-]*(?:token|secret|passw|passphrase|pwd|api[-_]?key|access[-_]?key|private[-_]?key|credential|auth(?!or))[\w.-]*`;

const PATTERNS: readonly [RegExp, string][] = [
  [/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, '[id]'],
  [/\b[0-9a-f]{24,}\b/gi, '[id]'],
  [/\b(bearer|basic)\s+[\w.~+/=-]+/gi, `$1 ${SECRET}`],
  [/(mcp-session-id['"]?\s*[:=,]\s*)\S+/gi, '$1[id]'],
  [/:\/\/[^/\s]+@/g, `://${SECRET}@`],
  // A query may hold a token under any name.
  [/\b(https?:\/\/[^\s?#"'<>]*)\?[^\s"'<>]*/gi, '$1?…'],
  [new RegExp(String.raw`(["']${NAME}["']\s*:\s*)(["']).*?\2`, 'gi'), `$1$2${SECRET}$2`],
  [new RegExp(String.raw`\b(${NAME}=)("[^"]*"|'[^']*'|[^\s"'&;,]+)`, 'gi'), `$1${SECRET}`],
  // As a header or a log has it: names of several words, since a sentence may have a colon after one.
  [new RegExp(String.raw`\b((?=[\w.]*[-_])${NAME}:\s*)[^\s"'&;,]+`, 'gi'), `$1${SECRET}`],
  [/\b((?:proxy-)?authorization|(?:set-)?cookie|x-api-key)(["']?\s*:\s*)[^"'\n]+/gi, `$1$2${SECRET}`],
];

/** A text with what looks like a session id, a token or a password taken out. */
export function redact(text: string): string {
  return PATTERNS.reduce((rest, [pattern, by]) => rest.replace(pattern, by), text);
}

const ASSIGNMENT = new RegExp(`^(-{0,2}${NAME}=).`, 'is');
const FLAG = new RegExp(`^--?${NAME}$`, 'i');
/** Within one argument, as in `sh -c 'server --token abc'`. */
const FLAG_IN_TEXT = new RegExp(String.raw`((?:^|\s)--?${NAME}\s+)(?!-)\S+`, 'gi');
const HEADER = new RegExp(String.raw`^((?:-H|--header=?)?\s*[!#$%&'*+.^_\x60|~0-9A-Za-z-]+:)\s*\S.*$`, 's');

/** Arguments of a command line, without the values that look like secrets. */
export function redactArguments(args: readonly string[]): string[] {
  return args.map((argument, index) => {
    const before = args[index - 1] ?? '';
    if (FLAG.test(before) && !argument.startsWith('--')) return SECRET;
    // What a header says is nobody's business but the server's, whatever its name.
    const header = /^(-H|--header)$/.test(before) || /^(-H.|--header=)/s.test(argument);
    if (header) return HEADER.test(argument) ? argument.replace(HEADER, `$1 ${SECRET}`) : SECRET;
    if (ASSIGNMENT.test(argument)) return argument.slice(0, argument.indexOf('=') + 1) + SECRET;
    return redact(argument).replace(FLAG_IN_TEXT, `$1${SECRET}`);
  });
}

/** A URL as it may be shown: scheme, host and path. */
export const publicUrl = (text: string): string => text.replace(/[?#].*$/s, '').replace(/\/\/[^/]*@/, '//');
