/** Revisions of the Model Context Protocol that this client speaks, and which it offers. */

/**
 * Best first: the first is what initialize offers. The last knows no Streamable HTTP, but servers that had it early
 * (mcp 1.8) choose it all the same.
 */
export const VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;

export const OFFERED_VERSION = VERSIONS[0];

/** Can a session go on in the revision that the server chose? */
export function canSpeak(version: unknown): version is (typeof VERSIONS)[number] {
  return (VERSIONS as readonly unknown[]).includes(version);
}
