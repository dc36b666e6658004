/** deploy/kubernetes/k6 and the image that it runs, without a cluster. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { projectFile, readProjectFile } from '../support/compose.ts';

const FOLDER = 'deploy/kubernetes/k6';
const ROOT = fileURLToPath(projectFile('.'));

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef: { readonly optional: boolean } };
}
interface TestRun {
  readonly apiVersion: string;
  readonly kind: string;
  readonly spec: {
    readonly parallelism: number;
    readonly script: { readonly localFile: string };
    readonly arguments: string;
    readonly runner: {
      readonly image: string;
      readonly env: readonly Variable[];
      readonly resources: { readonly requests: object; readonly limits: object };
      readonly securityContext: { readonly runAsUser: number; readonly runAsNonRoot: boolean };
      readonly containerSecurityContext: { readonly readOnlyRootFilesystem: boolean };
    };
  };
}
interface Replacement {
  readonly source: { readonly fieldPath: string };
  readonly targets: readonly { readonly fieldPaths: readonly string[] }[];
}

/** An instance cannot keep a file, and the registry is nobody's of several instances. */
const ELSEWHERE = new Set<string | undefined>(['JSON', 'JUNIT', 'METRICS', 'HEADERS']);

const testRun = parse(readProjectFile(`${FOLDER}/testrun.yaml`)) as TestRun;
const { replacements } = parse(readProjectFile(`${FOLDER}/kustomization.yaml`)) as {
  readonly replacements: readonly Replacement[];
};
const params = new Map(
  readProjectFile(`${FOLDER}/params.env`)
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line): [string, string] => {
      const [name = '', ...value] = line.split('=');
      return [name, value.join('=')];
    }),
);

describe('the k6 operator’s TestRun', () => {
  it('is one, hardened, with bounds, and writes to Prometheus', () => {
    const { apiVersion, kind, spec } = testRun;
    assert.deepEqual([apiVersion, kind], ['k6.io/v1alpha1', 'TestRun']);
    assert.match(spec.arguments, /-o experimental-prometheus-rw/);
    const { securityContext, containerSecurityContext, resources } = spec.runner;
    assert.ok(securityContext.runAsNonRoot && securityContext.runAsUser > 0);
    assert.ok(containerSecurityContext.readOnlyRootFilesystem);
    assert.deepEqual(
      [Object.keys(resources.requests), Object.keys(resources.limits)],
      [['cpu', 'memory'], ['memory']],
    );
  });

  it('takes every parameter, and every place to be filled is', () => {
    const names = replacements.map(({ source }) => source.fieldPath.replace('data.', ''));
    assert.deepEqual([...names].sort(), [...params.keys()].sort());
    const paths = replacements.flatMap(({ targets }) => targets.flatMap(({ fieldPaths }) => fieldPaths));
    const filled = testRun.spec.runner.env
      .filter(({ value }) => value === 'replaced')
      .map(({ name }) => name);
    for (const name of filled)
      assert.ok(paths.includes(`spec.runner.env.[name=${name}].value`), `${name} is not replaced`);
    for (const path of ['spec.parallelism', 'spec.script.localFile', 'spec.runner.image'])
      assert.ok(paths.includes(path), path);
    assert.ok(Number.isInteger(Number(params.get('PARALLELISM'))));
  });

  it('loads a host that is allowed, by a script that is in the image', () => {
    assert.equal(new URL(params.get('TARGET') ?? '').hostname, params.get('ALLOW_HOST'));
    const script = params.get('SCRIPT') ?? '';
    assert.ok(existsSync(projectFile(script.replace('/scripts/', ''))), script);
  });

  it('sets what the scripts read, all of it but what needs a file or a single instance', () => {
    const read = readProjectFile('loadtests/lib/options.ts');
    const names = [...read.matchAll(/'([A-Z][A-Z_]+)'/g)].map(([, name]) => name);
    const own = testRun.spec.runner.env.map(({ name }) => name).filter((name) => !name.startsWith('K6_'));
    assert.deepEqual(own.sort(), [...new Set(names)].filter((name) => !ELSEWHERE.has(name)).sort());
  });

  it('takes what is secret from a Secret, which need not be there', () => {
    const headers = testRun.spec.runner.env.find(({ name }) => name === 'REQUEST_HEADERS');
    assert.equal(headers?.value, undefined);
    assert.equal(headers?.valueFrom?.secretKeyRef.optional, true);
  });
});

/** What a file imports from files, but for types alone, which k6 takes out. */
function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(/^(?:import|export)\s(?!type\s)[^;]*?from\s+'(\.[^']+)'/gm)].map(([, path = '']) =>
    resolve(dirname(file), path),
  );
}

describe('deploy/k6.Dockerfile', () => {
  const dockerfile = readProjectFile('deploy/k6.Dockerfile');
  const copied = [...dockerfile.matchAll(/^COPY (\S+) \/scripts\/(\S+)$/gm)].map(([, from = '', to]) => {
    assert.equal(from, to, 'at the place where it is imported from');
    return from;
  });

  it('copies everything that the scripts import, and it is let through', () => {
    const queue = readdirSync(join(ROOT, 'loadtests'))
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
      .map((name) => join(ROOT, 'loadtests', name));
    const seen = new Set(queue);
    for (let file = queue.pop(); file !== undefined; file = queue.pop())
      for (const found of importsOf(file).filter((one) => !seen.has(one))) {
        queue.push(found);
        seen.add(found);
      }
    assert.ok(seen.size > 20);
    const allowed = readProjectFile('.dockerignore').match(/(?<=^!).+$/gm) ?? [];
    for (const file of [...seen].map((path) => relative(ROOT, path))) {
      const isIn = (folder: string): boolean => file === folder || file.startsWith(`${folder}/`);
      assert.ok(copied.some(isIn), `${file} is not copied`);
      assert.ok(allowed.some(isIn), `${file} is kept out by .dockerignore`);
    }
  });

  it('builds on the stock image, pinned, as its own user', () => {
    assert.match(dockerfile, /^ARG K6_IMAGE=grafana\/k6:\d+\.\d+\.\d+$/m);
    assert.match(dockerfile, /^FROM \$\{K6_IMAGE\}$/m);
    assert.match(dockerfile, /^USER \d+:\d+$/m);
  });
});
