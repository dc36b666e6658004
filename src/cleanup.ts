/**
 * What must not outlive the process, however it ends by itself: at its end, by process.exit or by an uncaught error.
 * Only SIGKILL leaves it behind.
 */

const pending = new Set<() => void>();

/**
 * Keeps a synchronous clean-up for the process's end; what was registered last is done first.
 * @returns withdraws it, for when it has been done in order
 */
export function atLast(cleanUp: () => void): () => void {
  if (pending.size === 0) process.once('exit', cleanUpNow);
  pending.add(cleanUp);
  return () => {
    pending.delete(cleanUp);
    if (pending.size === 0) process.off('exit', cleanUpNow);
  };
}

function cleanUpNow(): void {
  for (const cleanUp of [...pending].reverse()) {
    pending.delete(cleanUp);
    try {
      cleanUp();
    } catch {
      // The others have their turn all the same.
    }
  }
}
