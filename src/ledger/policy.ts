/** What the ledger takes where nobody says otherwise. Imports nothing, so that k6 loads it too. */

/** Idle time after which the operator wants a session gone, where neither he nor the target says otherwise. */
export const DEFAULT_IDLE_MAX_SECONDS = 1800;
export const DEFAULT_SLACK_MS = 2000;
export const DEFAULT_LAG_MS = 300;
