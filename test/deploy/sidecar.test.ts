/** What deploy/kubernetes adds to a pod, as processes beside a server: the probe's files, its directory, the exporter. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { sessionRegistrations, sessionsRegistered } from '../../src/metrics/catalogue.ts';
import { Speaker } from '../fixtures/servers/speaker.ts';
import { inFolder } from '../support/cli.ts';
import { projectFile } from '../support/compose.ts';
import { PATIENT_MS, spawnSuspect } from '../support/exporter.ts';
import { seriesIn, successes } from '../support/exposition.ts';
import { kustomize, type Resource } from '../support/kustomize.ts';
import { prometheusMissing, startPrometheus } from '../support/prometheus.ts';
import { Mapping, runToEnd, startContainer, templateOf, type Pod } from '../support/sidecar.ts';

const folderOf = (name: string): string => fileURLToPath(projectFile(`deploy/kubernetes/${name}`));
const podOf = (): Pod => templateOf(kustomize(folderOf('example'))[0]).spec;
const DIRECTORY = 'MCP_RETENTION_PROBE_DIR';

/** The pod's volumes after its init container, and what the server's container is started with. */
async function prepared(
  folder: string,
  pod: Pod,
): Promise<{ mapping: Mapping; env: Record<string, string> }> {
  const mapping = new Mapping(folder, pod);
  const [init] = pod.initContainers;
  const [server] = pod.containers;
  assert.ok(init && server);
  // Twice, as when the pod's sandbox is made anew.
  for (let i = 0; i < 2; i++) await runToEnd(init, mapping);
  return { mapping, env: mapping.environmentOf(server) };
}

/** A pod with a server that holds one session, and the address of its exporter. */
async function startPod(t: TestContext, folder: string): Promise<{ address: string; pid: number }> {
  const pod = podOf();
  const { mapping, env } = await prepared(folder, pod);
  const { url, pid } = await spawnSuspect(t, env[DIRECTORY] ?? '', [], env);
  const speaker = new Speaker(url);
  t.after(() => speaker.close());
  await speaker.open();
  const exporter = pod.containers.at(-1);
  assert.ok(exporter);
  return { address: await startContainer(t, exporter, mapping), pid };
}

interface Endpoint {
  readonly path: string;
  readonly relabelings: readonly Readonly<Record<string, unknown>>[];
  readonly metricRelabelings: readonly Readonly<Record<string, unknown>>[];
}

/** As prometheus-operator writes it: the same fields in Prometheus' own spelling. */
const relabelConfigs = (rules: readonly Readonly<Record<string, unknown>>[]): object[] =>
  rules.map((rule) =>
    Object.fromEntries(
      Object.entries(rule).map(([key, value]) => [
        key.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`),
        value,
      ]),
    ),
  );

/** What Prometheus finds of a pod. */
const discovered = (
  address: string,
  namespace: string,
  name: string,
  kind: string,
  controller: string,
): object => ({
  targets: [address],
  labels: {
    __meta_kubernetes_namespace: namespace,
    __meta_kubernetes_pod_name: name,
    __meta_kubernetes_pod_controller_kind: kind,
    __meta_kubernetes_pod_controller_name: controller,
  },
});

describe('the sidecar', () => {
  it('puts the probe where the server’s Python finds it, and its socket where the exporter’s group can connect', () =>
    inFolder(async (folder) => {
      const { env } = await prepared(folder, podOf());
      const directory = env[DIRECTORY] ?? '';
      assert.equal(statSync(directory).mode & 0o7777, 0o2750);
      const child = spawn('python3', ['-c', LISTEN], {
        env: { ...process.env, ...env },
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
      assert.equal(line, join(env.PYTHONPATH ?? '', 'mcp_retention_probe', 'address.py'));
      const [name = ''] = readdirSync(directory);
      const socket = statSync(join(directory, name));
      assert.deepEqual([socket.mode & 0o777, socket.gid], [0o660, statSync(directory).gid]);
      child.stdin.end();
      await once(child, 'exit');
    }));

  it('counts the sessions of the server beside it', (t) =>
    inFolder(async (folder) => {
      const { address, pid } = await startPod(t, folder);
      const page = await (await fetch(`http://${address}/metrics`)).text();
      const [registered] = seriesIn(page).filter(({ name }) => name === sessionsRegistered.name);
      assert.deepEqual([registered?.value, registered?.labels.worker], [1, String(pid)]);
      assert.deepEqual(Object.values(successes(page)), [1, 1]);
      assert.equal((await fetch(`http://${address}/healthz`)).status, 200);
    }));

  it('leaves a server alone whose directory others can write to, as an emptyDir is before the init container', () =>
    inFolder(async (folder) => {
      const { env } = await prepared(folder, podOf());
      const emptyDir = dirname(env[DIRECTORY] ?? '');
      const listen = 'from mcp_retention_probe import listener; listener.ensure(); print("serves")';
      const { stdout, stderr } = await execa('python3', ['-c', listen], {
        env: { ...env, [DIRECTORY]: emptyDir },
      });
      assert.equal(stdout, 'serves');
      assert.match(stderr, /^mcp-retention-probe: MCP_RETENTION_PROBE_DIR is writable by others: .+$/);
    }));

  it('keeps pods and workloads apart in Prometheus', { skip: prometheusMissing }, (t) =>
    inFolder(async (folder) => {
      const { address, pid } = await startPod(t, folder);
      const monitor = kustomize(folderOf('monitoring')).find(({ kind }: Resource) => kind === 'PodMonitor');
      const [endpoint] = (monitor?.spec as { podMetricsEndpoints: readonly Endpoint[] }).podMetricsEndpoints;
      assert.ok(endpoint);
      const prometheus = await startPrometheus({
        global: { scrape_interval: '1s', scrape_timeout: '1s' },
        scrape_configs: [
          {
            job_name: 'podMonitor/monitoring/mcp-retention/0',
            metrics_path: endpoint.path,
            relabel_configs: relabelConfigs(endpoint.relabelings),
            metric_relabel_configs: relabelConfigs(endpoint.metricRelabelings),
            static_configs: [
              discovered(address, 'mcp', 'mcp-server-5d8f7c9b4-x2x4z', 'ReplicaSet', 'mcp-server-5d8f7c9b4'),
              discovered(address, 'mcp', 'mcp-server-5d8f7c9b4-q8w7k', 'ReplicaSet', 'mcp-server-5d8f7c9b4'),
              discovered(address, 'staging', 'mcp-server-0', 'StatefulSet', 'mcp-server'),
              discovered(address, 'staging', 'agent-h6f8d', 'DaemonSet', 'agent-2'),
            ],
          },
        ],
      });
      t.after(() => prometheus.stop());
      const deadline = performance.now() + PATIENT_MS;
      let found = await prometheus.query(sessionRegistrations.name);
      while (found.length < 4 && performance.now() < deadline) {
        await sleep(100);
        found = await prometheus.query(sessionRegistrations.name);
      }
      const labels = found.map(({ metric }) => {
        assert.deepEqual(
          [metric.job, metric.worker, metric.exported_target],
          ['mcp-retention', String(pid), undefined],
        );
        return `${metric.target} ${metric.instance}`;
      });
      assert.deepEqual(labels.sort(), [
        'mcp.mcp-server mcp/mcp-server-5d8f7c9b4-q8w7k',
        'mcp.mcp-server mcp/mcp-server-5d8f7c9b4-x2x4z',
        'staging.agent-2 staging/agent-h6f8d',
        'staging.mcp-server staging/mcp-server-0',
      ]);
      const up = await prometheus.query('up{target="mcp.mcp-server"}');
      assert.deepEqual(
        up.map(({ value }) => value[1]),
        ['1', '1'],
      );
    }),
  );
});

/** Says where the probe's code is from, and listens until its input ends. */
const LISTEN = `
import sys
from mcp_retention_probe import address
listener, files = address.open_listener()
print(address.__file__, flush=True)
sys.stdin.read()
`;
