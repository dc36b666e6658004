/**
 * Counts what enters and leaves a Map or Set while a server uses it, apart from its size: whatever changes it
 * by another way shows as identity drift.
 */
import { UsageError } from '../targets/target.ts';
import { saysEnded } from './ended.ts';

/** Where a server keeps its transports: by session id, or as they are. */
export type Registry = Map<unknown, unknown> | Set<unknown>;

export interface RegistryCounts {
  readonly registered: number;
  readonly registeredAtStart: number;
  readonly registrations: number;
  readonly removals: number;
  /** Entries that say that they have ended; null where at least one of them does not tell. */
  readonly remnants: number | null;
}

export interface RegistryWatch {
  counts(): RegistryCounts;
  /** Gives the registry its own methods back. */
  stop(): void;
}

/** What is watched already: two watchers would count each other's load. */
const watched = new WeakSet<Registry>();

/** @throws UsageError where entries coming and going cannot be counted exactly */
export function countRegistry(registry: Registry): RegistryWatch {
  admit(registry);
  watched.add(registry);
  const registeredAtStart = registry.size;
  const seen = { registrations: 0, removals: 0 };
  const undo = interpose(registry, seen);
  return {
    counts: () => ({
      registered: registry.size,
      registeredAtStart,
      ...seen,
      remnants: remnantsIn(registry),
    }),
    stop: () => {
      for (const restore of undo) restore();
      watched.delete(registry);
    },
  };
}

/** Whether a key is there before and after counts, not what the method says: a subclass may do as it likes. */
function interpose(registry: Registry, seen: { registrations: number; removals: number }): (() => void)[] {
  return [
    replace(registry, registry instanceof Map ? 'set' : 'add', (act, key) => {
      const before = registry.has(key);
      const result = act();
      if (!before && registry.has(key)) seen.registrations++;
      return result;
    }),
    replace(registry, 'delete', (act, key) => {
      const before = registry.has(key);
      const result = act();
      if (before && !registry.has(key)) seen.removals++;
      return result;
    }),
    replace(registry, 'clear', (act) => {
      const before = registry.size;
      const { removals } = seen;
      const result = act();
      // A subclass may empty itself by its own delete, which has been counted then.
      seen.removals = removals + before - registry.size;
      return result;
    }),
  ];
}

function admit(registry: unknown): asserts registry is Registry {
  if (!(registry instanceof Map) && !(registry instanceof Set))
    throw new UsageError(
      'registry: only a Map or a Set can be counted exactly, because what enters and leaves another object is not to be seen: keep the transports in a Map, by their session ids.',
    );
  if (!Object.isExtensible(registry))
    throw new UsageError(
      'registry: it is frozen or sealed, so that its methods cannot be watched: give the one that the server writes to.',
    );
  if (watched.has(registry as Registry))
    throw new UsageError(
      'registry: it is being watched already, and two measurements would count each other’s sessions: let the first end before the second begins.',
    );
}

/** Puts a method in front of the registry's own. @returns undoes it */
function replace(
  registry: Registry,
  name: string,
  around: (act: () => unknown, key: unknown) => unknown,
): () => void {
  const own = Object.getOwnPropertyDescriptor(registry, name);
  const original = Reflect.get(registry, name) as (...args: unknown[]) => unknown;
  const value = function (this: unknown, ...args: unknown[]): unknown {
    return around(() => Reflect.apply(original, this, args), args[0]);
  };
  Object.defineProperty(registry, name, { value, configurable: true, writable: true, enumerable: false });
  return () => {
    // Somebody put another one in front meanwhile: that one calls ours, which still does what it should.
    if (Reflect.get(registry, name) !== value) return;
    if (own) Object.defineProperty(registry, name, own);
    else Reflect.deleteProperty(registry, name);
  };
}

function remnantsIn(registry: Registry): number | null {
  let remnants = 0;
  for (const entry of registry.values()) {
    const ended = saysEnded(entry);
    if (ended === null) return null;
    if (ended) remnants++;
  }
  return remnants;
}
