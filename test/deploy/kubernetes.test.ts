/** deploy/kubernetes, without a cluster: rendered, held against the API's types, and its containers run as processes. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { parseAllDocuments, stringify } from 'yaml';
import { DEFAULT_RULES_OPTIONS, ruleGroups } from '../../dashboards/rules/index.ts';
import { inFolder } from '../support/cli.ts';
import { entrypointOf, projectFile, readProjectFile } from '../support/compose.ts';
import { checkSchemas, typeErrors } from '../support/kubernetes.ts';
import { kustomize, type Resource } from '../support/kustomize.ts';
import { pathOf } from '../support/programs.ts';
import { checkRules, prometheusMissing } from '../support/prometheus.ts';
import { PROBE_FILES, templateOf, type Container } from '../support/sidecar.ts';

const folderOf = (name: string): string => fileURLToPath(projectFile(`deploy/kubernetes/${name}`));
const OWN = /^mcp-retention-/;

/** Two workloads as people have them, one of them marked, and one with lists that are there already. */
const OWN_RESOURCES = `
apiVersion: apps/v1
kind: Deployment
metadata: { name: other }
spec:
  selector: { matchLabels: { app: other } }
  template:
    metadata: { labels: { app: other } }
    spec: { containers: [{ name: web, image: 'web:1' }] }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: shop, labels: { mcp-retention: sidecar } }
spec:
  selector: { matchLabels: { app: shop } }
  template:
    metadata: { labels: { app: shop } }
    spec: { containers: [{ name: web, image: 'shop:1' }] }
---
apiVersion: apps/v1
kind: StatefulSet
metadata: { name: cart, labels: { mcp-retention: sidecar } }
spec:
  serviceName: cart
  selector: { matchLabels: { app: cart } }
  template:
    metadata: { labels: { app: cart } }
    spec:
      securityContext: { runAsUser: 5, fsGroup: 6 }
      initContainers: [{ name: migrate, image: 'cart:1' }]
      containers:
        - name: api
          image: cart:1
          env: [{ name: LEVEL, value: info }]
          volumeMounts: [{ name: data, mountPath: /data }]
        - { name: proxy, image: 'proxy:1' }
      volumes: [{ name: data, emptyDir: {} }]
`;

/** A kustomization of one's own, with no more than it needs. */
function withOwn(use: (folder: string) => void | Promise<void>): Promise<void> {
  return inFolder(async (folder) => {
    mkdirSync(join(folder, 'own'));
    const components = ['sidecar', 'first-container'].map((name) =>
      relative(join(folder, 'own'), folderOf(name)),
    );
    const images = [{ name: 'mcp-retention', newName: 'registry.example.com/mcp-retention', newTag: '1' }];
    const kustomization = { kind: 'Kustomization', resources: ['own.yaml'], components, images };
    writeFileSync(join(folder, 'own', 'kustomization.yaml'), stringify(kustomization));
    writeFileSync(join(folder, 'own', 'own.yaml'), OWN_RESOURCES);
    await use(join(folder, 'own'));
  });
}

const named = (resources: readonly Resource[], kind: string, name: string): Resource => {
  const found = resources.find((one) => one.kind === kind && one.metadata.name === name);
  assert.ok(found, `${kind} ${name}`);
  return found;
};
const ownContainers = (resource: Resource): Container[] => {
  const { initContainers, containers } = templateOf(resource).spec;
  return [...initContainers, ...containers].filter(({ name }) => OWN.test(name));
};

describe('deploy/kubernetes', () => {
  let example: Resource[];
  let monitoring: Resource[];
  before(() => {
    example = kustomize(folderOf('example'));
    monitoring = kustomize(folderOf('monitoring'));
  });

  it('is what the API takes: no field unknown, none missing, none of another form', () =>
    withOwn((own) => {
      const all = [...example, ...monitoring, ...kustomize(own)];
      checkSchemas(all);
      assert.deepEqual(typeErrors(all), []);
      const wrong = structuredClone(example) as unknown as [{ spec: { template: { spec: object } } }];
      Object.assign(wrong[0].spec.template.spec, { volumeMouts: [] });
      assert.match(typeErrors(wrong as never).join(), /volumeMouts/);
    }));

  const kubectl = pathOf('kubectl') === null ? 'kubectl is not on PATH' : false;
  it('is rendered by kubectl in the same way', { skip: kubectl }, () =>
    withOwn(async (own) => {
      for (const folder of [folderOf('example'), folderOf('monitoring'), own]) {
        const { stdout } = await execa('kubectl', ['kustomize', folder]);
        const theirs = parseAllDocuments(stdout).map((document) => document.toJS() as Resource);
        const ours = kustomize(folder);
        assert.equal(theirs.length, ours.length);
        for (const one of ours) assert.deepEqual(named(theirs, one.kind, one.metadata.name), one);
      }
    }),
  );

  it('hardens its containers, bounds them, and leaves the pod as it is', () =>
    withOwn((own) => {
      const { securityContext } = templateOf(named(kustomize(own), 'StatefulSet', 'cart')).spec;
      assert.deepEqual(securityContext, { runAsUser: 5, fsGroup: 6 });
      const [deployment] = example;
      assert.ok(deployment);
      const containers = ownContainers(deployment);
      assert.equal(containers.length, 2);
      for (const { securityContext: own, resources, volumeMounts = [] } of containers) {
        const {
          runAsNonRoot,
          allowPrivilegeEscalation,
          readOnlyRootFilesystem,
          capabilities,
          seccompProfile,
        } = own;
        assert.deepEqual(
          { runAsNonRoot, allowPrivilegeEscalation, readOnlyRootFilesystem, capabilities, seccompProfile },
          {
            runAsNonRoot: true,
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
            seccompProfile: { type: 'RuntimeDefault' },
          },
        );
        assert.ok(resources.limits && 'memory' in resources.limits && resources.requests);
        assert.ok(volumeMounts.length > 0);
      }
      for (const { emptyDir = {} } of templateOf(deployment).spec.volumes) assert.ok('sizeLimit' in emptyDir);
    }));

  it('makes the directory the server’s, readable by the group of the exporter, which is another user', () => {
    const [deployment] = example;
    assert.ok(deployment);
    const [init, exporter] = ownContainers(deployment).map(({ securityContext }) => securityContext);
    assert.equal(init?.runAsUser, undefined, 'the server’s, from the pod');
    assert.equal(init?.runAsGroup, exporter?.runAsGroup);
    assert.notEqual(templateOf(deployment).spec.securityContext?.runAsUser, exporter?.runAsUser);
  });

  it('takes what the image has, by the command that the image runs', () => {
    const dockerfile = readProjectFile('deploy/mcp-retention.Dockerfile');
    assert.match(dockerfile, /^WORKDIR \/opt\/mcp-retention$/m);
    for (const part of ['sitecustomize.py', 'mcp_retention_probe'])
      assert.match(dockerfile, new RegExp(`^COPY probes/python/${part}.* probes/python/`, 'm'));
    assert.match(entrypointOf('deploy/mcp-retention.Dockerfile').at(-1) ?? '', /\/cli\/main\.js$/);
    const [init] = example.flatMap(ownContainers);
    assert.ok(init?.args?.join().includes(`${PROBE_FILES}/.`));
  });

  it('changes marked workloads alone, and their first container by what it names', () =>
    withOwn((own) => {
      const rendered = kustomize(own);
      const given = parseAllDocuments(OWN_RESOURCES).map((document) => document.toJS() as Resource);
      assert.deepEqual(named(rendered, 'Deployment', 'other'), named(given, 'Deployment', 'other'));
      const { containers, initContainers } = templateOf(named(rendered, 'StatefulSet', 'cart')).spec;
      assert.deepEqual(
        [initContainers, containers].map((list) => list.map(({ name }) => name)),
        [
          ['mcp-retention-probe', 'migrate'],
          ['api', 'proxy', 'mcp-retention-exporter'],
        ],
      );
      // What the patch by name says, but for readOnly, which is no text, beside what was there before.
      const [api, proxy] = containers;
      const byName = templateOf(example[0]).spec.containers[0];
      assert.deepEqual(api?.env, [{ name: 'LEVEL', value: 'info' }, ...(byName?.env ?? [])]);
      const mounts = byName?.volumeMounts?.map(({ name, mountPath }) => ({ name, mountPath })) ?? [];
      assert.deepEqual(api.volumeMounts, [{ name: 'data', mountPath: '/data' }, ...mounts]);
      assert.equal(proxy?.env, undefined);
    }));

  it('has the rules and dashboards that are generated, in sizes that a cluster takes', () => {
    const rule = named(monitoring, 'PrometheusRule', 'mcp-retention');
    assert.deepEqual(rule.spec, JSON.parse(JSON.stringify({ groups: ruleGroups(DEFAULT_RULES_OPTIONS) })));
    const maps = monitoring.filter(({ kind }) => kind === 'ConfigMap');
    assert.equal(maps.length, 3);
    for (const { metadata } of maps) assert.equal(metadata.labels?.grafana_dashboard, '1');
    // kubectl apply keeps a copy of each in an annotation, and annotations may have 256 KiB together.
    for (const one of monitoring) assert.ok(JSON.stringify(one).length < 250 * 1024, one.metadata.name);
    const names = monitoring.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    assert.equal(new Set(names).size, names.length);
  });

  it('has rules that Prometheus takes', { skip: prometheusMissing }, async () => {
    const { spec } = named(monitoring, 'PrometheusRule', 'mcp-retention');
    const { code, output } = await checkRules(stringify(spec), ['--lint=all', '--lint-fatal']);
    assert.equal(code, 0, output);
  });

  it('scrapes the sidecar’s port as often as the rules expect', () => {
    const { selector, podMetricsEndpoints } = named(monitoring, 'PodMonitor', 'mcp-retention').spec as {
      selector: { matchLabels: Record<string, string> };
      podMetricsEndpoints: { port: string; interval: string; scrapeTimeout: string }[];
    };
    const [endpoint, ...more] = podMetricsEndpoints;
    assert.ok(endpoint && more.length === 0);
    const template = templateOf(example[0]);
    const [port] = template.spec.containers.at(-1)?.ports ?? [];
    assert.equal(endpoint.port, port?.name);
    assert.ok(template.spec.containers.at(-1)?.args?.includes(`0.0.0.0:${port?.containerPort}`));
    for (const [label, value] of Object.entries(selector.matchLabels))
      assert.equal(template.metadata.labels[label], value);
    assert.equal(endpoint.interval, `${DEFAULT_RULES_OPTIONS.scrapeIntervalSeconds}s`);
    assert.ok(parseInt(endpoint.scrapeTimeout) < parseInt(endpoint.interval));
  });

  it('names the workload for k6 as the PodMonitor does', () => {
    const params = readProjectFile('deploy/kubernetes/k6/params.env');
    const host = /^ALLOW_HOST=([^.]+)\.([^.]+)\.svc/m.exec(params);
    assert.match(params, new RegExp(`^TARGET_NAME=${host?.[2]}\\.${host?.[1]}$`, 'm'));
    assert.equal(example[0]?.metadata.name, host?.[1]);
  });
});
