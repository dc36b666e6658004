/** Where the package's own files and the cache are. */
import os from 'node:os';
import path from 'node:path';
import { PACKAGE_ROOT } from '../root.ts';

/** The directory that goes on PYTHONPATH, so that a Python server carries the probe. */
export const PYTHON_PROBE = path.join(PACKAGE_ROOT, 'probes', 'python');
/** The server program of the built-in Python builds. */
export const PYTHON_SERVER = path.join(PACKAGE_ROOT, 'servers', 'python', 'server.py');
/** Hash-pinned requirements: `mcp-VERSION.txt` for the builds, `uv.txt` for the resolver. */
export const PYTHON_LOCKS = path.join(PACKAGE_ROOT, 'servers', 'python', 'locks');

/** `$XDG_CACHE_HOME/mcp-retention`, or `~/.cache/mcp-retention`. A relative value is ignored, as XDG asks. */
export function cacheDir(env: NodeJS.ProcessEnv = process.env): string {
  const base = env.XDG_CACHE_HOME;
  const usable = base !== undefined && path.isAbsolute(base);
  return path.join(usable ? base : path.join(os.homedir(), '.cache'), 'mcp-retention');
}
