/** Whether an entry of a registry says that it has ended. Only what it says is read; nothing is called. */

const CLOSED = ['closed', '_closed'] as const;
/** Where the flag stands: on the entry, on its transport, on what the TypeScript SDK's transport wraps. */
const INSIDE = ['transport', '_webStandardTransport'] as const;
const DEEPEST = 2;

/** null: it does not tell. */
export function saysEnded(entry: unknown, depth = 0): boolean | null {
  if (typeof entry !== 'object' || entry === null || depth > DEEPEST) return null;
  for (const name of CLOSED) {
    const value = field(entry, name);
    if (typeof value === 'boolean') return value;
  }
  for (const name of INSIDE) {
    const told = saysEnded(field(entry, name), depth + 1);
    if (told !== null) return told;
  }
  return null;
}

/** A getter of the user's that throws is none of ours to report. */
function field(entry: object, name: string): unknown {
  try {
    return Reflect.get(entry, name);
  } catch {
    return undefined;
  }
}
