/** Stand-in for the module `k6/timers`. */
const timeout = globalThis.setTimeout;
export { timeout as setTimeout };
