/**
 * What uv and pip say when an installation fails, told in one sentence with the mend.
 */
import { TargetError } from './target.ts';

const NO_NETWORK =
  /failed to fetch|error sending request|client error \(connect\)|dns error|connection refused|newconnectionerror|connecttimeout|read timed out|max retries exceeded|temporary failure in name resolution|name or service not known|network is unreachable|network (connectivity is|was) disabled|could not connect|proxyerror/i;
/** How pip says that it found nothing at all. */
const NOTHING = /\(from versions: none\)/i;
const NO_SUCH_VERSION = /there is no version of mcp==|no matching distribution found for mcp==/i;
const NO_SUCH_PACKAGE = /mcp was not found in the package registry/i;
const OTHER_CONTENT = /hash mismatch|do not match the hashes|none of the hashes/i;
const NO_ROOM = /no space left on device|os error 28\b/i;
const NO_VENV = /ensurepip is not available|no module named (venv|ensurepip|pip)/i;
const QUOTE_CHARACTERS = 240;

/** @param what the build that was to be installed, as the user wrote it. */
export function installError(what: string, output: string): TargetError {
  return new TargetError(sentence(what, output));
}

function sentence(what: string, output: string): string {
  // Order matters: a pip without network also says that it found no matching distribution.
  if (NO_NETWORK.test(output) || NOTHING.test(output)) {
    return `${what} cannot be installed because the package index does not answer or lacks what it needs: check the network, or the index that pip or uv is configured to use.`;
  }
  if (NO_SUCH_VERSION.test(output)) {
    return `${what} does not exist in the package index, or not for this Python: choose a published version (pip index versions mcp lists them).`;
  }
  if (NO_SUCH_PACKAGE.test(output)) {
    return `${what} cannot be installed because the package index does not have mcp: check the index that pip or uv is configured to use.`;
  }
  if (OTHER_CONTENT.test(output)) {
    return `${what} was not installed because the package index serves other files than those that are pinned: use an index that mirrors PyPI unchanged.`;
  }
  if (NO_ROOM.test(output)) return `${what} cannot be installed because the disk is full: free some space.`;
  if (NO_VENV.test(output)) {
    return `${what} cannot be installed because this Python lacks venv or pip: install them (Debian: python3-venv), or put uv on PATH.`;
  }
  const mend = /wheel|requires-python|python>=|python version/i.test(output)
    ? 'name another Python in MCP_RETENTION_PYTHON'
    : 'the log has the whole output';
  return `${what} cannot be installed (“${quote(output)}”): ${mend}.`;
}

/** Whether uv or pip says that the index could not be reached. */
export const saysUnreachable = (output: string): boolean => NO_NETWORK.test(output);

/** The line that tells most: uv's cause, pip's last error, else the last line. */
export function quote(output: string): string {
  const lines = output
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('[notice]'));
  const cause = lines.find((line) => /^(cause: )?because /i.test(line));
  const error = lines.findLast((line) => /^(error|fatal)\b/i.test(line));
  const said = (cause ?? error ?? lines.at(-1) ?? 'no output').replace(/^(cause|error): /i, '');
  return said.length > QUOTE_CHARACTERS ? `${said.slice(0, QUOTE_CHARACTERS)}…` : said;
}
