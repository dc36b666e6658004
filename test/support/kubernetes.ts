/**
 * Whether resources are what a cluster takes: by the schemas of kubernetes-models, which know required fields and forms,
 * and by its types, which know every field there is (its schemas let unknown ones pass).
 */
import { PodMonitor, PrometheusRule } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';
import { DaemonSet, Deployment, StatefulSet } from 'kubernetes-models/apps/v1';
import { ConfigMap } from 'kubernetes-models/v1';
import ts from 'typescript';
import { projectFile } from './compose.ts';
import type { Resource } from './kustomize.ts';

interface Validating {
  validate(): void;
}

const APPS = 'kubernetes-models/apps/v1';
const OPERATOR = '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';
const KINDS: Readonly<Record<string, readonly [string, new (data: never) => Validating]>> = {
  ConfigMap: ['kubernetes-models/v1', ConfigMap],
  DaemonSet: [APPS, DaemonSet],
  Deployment: [APPS, Deployment],
  StatefulSet: [APPS, StatefulSet],
  PodMonitor: [OPERATOR, PodMonitor],
  PrometheusRule: [OPERATOR, PrometheusRule],
};

function kindOf({ kind }: Resource): readonly [string, new (data: never) => Validating] {
  const known = KINDS[kind];
  if (known === undefined) throw new Error(`${kind} is not known here`);
  return known;
}

/** @throws with what a schema says */
export function checkSchemas(resources: readonly Resource[]): void {
  for (const resource of resources) new (kindOf(resource)[1])(resource as never).validate();
}

/** What the compiler says of each resource as a literal of its type: unknown fields and wrong types. */
export function typeErrors(resources: readonly Resource[]): string[] {
  const file = projectFile('test/support/resources.generated.ts').pathname;
  const text = resources
    .map(
      (resource, index) =>
        `import type { I${resource.kind} as T${index} } from '${kindOf(resource)[0]}';\n` +
        `export const r${index}: T${index} = ${JSON.stringify(resource)};\n`,
    )
    .join('');
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  };
  const host = ts.createCompilerHost(options);
  const fileExists = host.fileExists.bind(host);
  const getSourceFile = host.getSourceFile.bind(host);
  host.fileExists = (path) => path === file || fileExists(path);
  host.getSourceFile = (path, ...more) =>
    path === file ? ts.createSourceFile(path, text, ts.ScriptTarget.ES2022) : getSourceFile(path, ...more);
  const program = ts.createProgram([file], options, host);
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
}
