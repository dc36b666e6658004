/** From builds to targets that can be put under load: started, looked at, with their ledgers' policy. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { HttpTransport } from '../client/http.ts';
import { McpSession } from '../client/session.ts';
import { DEFAULT_IDLE_MAX_SECONDS, DEFAULT_LAG_MS, DEFAULT_SLACK_MS } from '../ledger/ledger.ts';
import { ProbeReader } from '../observe/sessions.ts';
import type { Logger } from '../log.ts';
import { buildOf, type Snapshot } from '../observe/snapshot.ts';
import { publicUrl } from '../targets/secrets.ts';
import { TargetError, type PreparedBuild, type RunningTarget } from '../targets/target.ts';
import type { LoadOptions, LoadTarget } from './options.ts';
import { REQUEST_TIMEOUT_MS, TargetLoad } from './target.ts';

const OVER_CAP_STATUS = 503;

export interface Started {
  readonly load: TargetLoad;
  readonly running: RunningTarget;
}

/** As metrics and people name it. */
export const nameOf = ({ name, build }: LoadTarget): string => name ?? publicUrl(build.name);

/**
 * @param folder for probes' sockets and servers' logs
 * @throws TargetError when it cannot be prepared or started, or is no MCP server
 */
export async function startTarget(
  target: LoadTarget,
  options: LoadOptions,
  folder: string,
): Promise<Started> {
  const { log, signal } = options;
  const prepared = await target.build.prepare(signal, (line) =>
    log.debug({ target: target.build.name }, line),
  );
  const ownProbeDir = join(folder, 'probe');
  if (target.probeDir === null) mkdirSync(ownProbeDir, { recursive: true, mode: 0o700 });
  const probeDir = target.probeDir ?? ownProbeDir;
  const running = await prepared.start({
    settings: {},
    probeDir,
    logFile: join(folder, 'server.log'),
    signal,
  });
  try {
    if (prepared.foreign) await preflight(running, log.child({ target: nameOf(target) }));
    const probed = prepared.record.abilities.probe ? probeDir : null;
    return { running, load: await loadOf(prepared, running, { ...target, probeDir: probed }, options) };
  } catch (error) {
    await running.stop();
    throw error;
  }
}

async function loadOf(
  prepared: PreparedBuild,
  running: RunningTarget,
  { name, probeDir, label }: LoadTarget,
  options: LoadOptions,
): Promise<TargetLoad> {
  const snapshots = probeDir === null ? [] : await snapshotsIn(probeDir);
  const target = name ?? publicUrl(prepared.record.build);
  const labels = {
    target,
    build: label ?? (snapshots[0] && buildOf(snapshots[0])) ?? packageOf(prepared) ?? target,
  };
  const ownIdleSeconds = idleTimeoutOf(snapshots) ?? running.settings.idleTimeoutSeconds ?? null;
  return new TargetLoad({
    running,
    labels,
    foreign: prepared.foreign,
    probeDir,
    policy: {
      idleSeconds: options.idleMaxSeconds ?? ownIdleSeconds ?? DEFAULT_IDLE_MAX_SECONDS,
      slackMs: DEFAULT_SLACK_MS,
      lagMs: DEFAULT_LAG_MS,
    },
    ownIdleSeconds,
    seed: options.seed,
    maxInFlight: options.maxInFlight,
    metrics: options.metrics,
    signal: options.signal,
    log: options.log.child({ target: labels.target }),
  });
}

async function snapshotsIn(probeDir: string): Promise<Snapshot[]> {
  const reader = new ProbeReader();
  const { workers } = await reader.read(probeDir);
  await reader.close();
  return workers.map(({ snapshot }) => snapshot);
}

const packageOf = ({ record }: PreparedBuild): string | null =>
  record.kind === 'python' && record.version !== null ? `python:mcp@${record.version}` : null;

/** The longest idle timeout that the probe tells of; null where a manager has none, or nothing is told. */
function idleTimeoutOf(snapshots: readonly Snapshot[]): number | null {
  const timeouts = snapshots.flatMap(({ managers }) => managers.map((manager) => manager.idleTimeoutSeconds));
  const known = timeouts.filter((timeout) => timeout !== null);
  return known.length === 0 || known.length < timeouts.length ? null : Math.max(...known);
}

/** One session opened and deleted: is there an MCP server at all? One that is full now is one. */
async function preflight({ url, headers }: RunningTarget, log: Logger): Promise<void> {
  const transport = new HttpTransport({ url, headers, timeoutMs: REQUEST_TIMEOUT_MS });
  try {
    const { exchange, session } = await McpSession.open(transport);
    if (session !== null) {
      await session.initialized();
      if (session.id === null)
        log.warn({ code: 'no-sessions' }, 'this server gives no session ids: there are no sessions to keep');
      const { outcome, status = 0 } = await session.delete();
      if (outcome === 'refused')
        log.warn(
          { code: 'delete-refused', status },
          `this server refuses DELETE (HTTP ${status}): sessions stay`,
        );
      // It must not be counted among the load's own.
      await delay(DEFAULT_LAG_MS);
    } else if (exchange.status !== OVER_CAP_STATUS) {
      const answer = exchange.status === undefined ? '' : `HTTP ${exchange.status}`;
      throw new TargetError(
        `${publicUrl(url)} does not open an MCP session: ${[answer, exchange.note].filter(Boolean).join(', ')}`,
      );
    }
  } finally {
    await transport.close();
  }
}
