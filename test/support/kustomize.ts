/**
 * Renders deploy/kubernetes without kustomize: what its files use of it, and an error for anything else. Where kubectl
 * is at hand, a test holds the two against each other.
 */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';

export interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

interface Selector {
  readonly group?: string;
  readonly labelSelector?: string;
}

interface Replacement {
  readonly source: { readonly kind: string; readonly name: string; readonly fieldPath: string };
  readonly targets: readonly {
    readonly select: Selector;
    readonly options: { readonly create: true };
    readonly fieldPaths: readonly string[];
  }[];
}

interface Kustomization {
  readonly resources?: readonly string[];
  readonly components?: readonly string[];
  readonly patches?: readonly {
    readonly path?: string;
    readonly patch?: string;
    readonly target?: Selector;
  }[];
  readonly replacements?: readonly Replacement[];
  readonly images?: readonly { readonly name: string; readonly newName: string; readonly newTag: string }[];
}

const KNOWN = ['apiVersion', 'kind', 'resources', 'components', 'patches', 'replacements', 'images'];
const LOCAL = 'config.kubernetes.io/local-config';

type Tree = Record<string, unknown>;

/** @param folder absolute, with a kustomization.yaml */
export const kustomize = (folder: string): Resource[] =>
  withKustomization(folder, []).filter(({ metadata }) => metadata.annotations?.[LOCAL] !== 'true');

/** A component is a kustomization that begins with what there is already. */
function withKustomization(folder: string, given: readonly Resource[]): Resource[] {
  const file = parse(readFileSync(join(folder, 'kustomization.yaml'), 'utf8')) as Kustomization;
  for (const key of Object.keys(file)) if (!KNOWN.includes(key)) throw new Error(`${folder}: ${key}`);
  let resources = [...given, ...(file.resources ?? []).flatMap((path) => resourcesAt(join(folder, path)))];
  for (const path of file.components ?? []) resources = withKustomization(join(folder, path), resources);
  for (const { path, patch, target } of file.patches ?? []) {
    const text = patch ?? readFileSync(join(folder, path ?? ''), 'utf8');
    resources = patched(resources, parse(text) as Operation[] | Resource, target);
  }
  for (const replacement of file.replacements ?? []) replace(resources, replacement);
  for (const image of file.images ?? []) setImages(resources, image);
  return resources;
}

function resourcesAt(path: string): Resource[] {
  if (statSync(path).isDirectory()) return withKustomization(path, []);
  return parseAllDocuments(readFileSync(path, 'utf8')).map((document) => document.toJS() as Resource);
}

function isSelected({ apiVersion, metadata }: Resource, { group, labelSelector }: Selector): boolean {
  const [label = '', value] = labelSelector?.split('=') ?? [];
  return (
    (group === undefined || apiVersion.startsWith(`${group}/`)) &&
    (labelSelector === undefined || metadata.labels?.[label] === value)
  );
}

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly value: unknown;
}

function patched(
  resources: readonly Resource[],
  patch: Operation[] | Resource,
  target?: Selector,
): Resource[] {
  const isMeant = (resource: Resource): boolean =>
    target !== undefined
      ? isSelected(resource, target)
      : !Array.isArray(patch) &&
        resource.kind === patch.kind &&
        resource.metadata.name === patch.metadata.name;
  if (!resources.some(isMeant)) throw new Error('a patch has no target');
  return resources.map((resource) => {
    if (!isMeant(resource)) return resource;
    const copy = structuredClone(resource);
    if (Array.isArray(patch)) for (const operation of patch) append(copy, operation);
    else merge(copy, { ...patch, kind: copy.kind, metadata: copy.metadata });
    return copy;
  });
}

function append(resource: Resource, { op, path, value }: Operation): void {
  const [, ...steps] = path.split('/');
  const list = steps.slice(0, -1).reduce<unknown>((node, step) => (node as Tree)[step], resource);
  if (op !== 'add' || steps.at(-1) !== '-' || !Array.isArray(list)) throw new Error(`${op} ${path}`);
  list.push(structuredClone(value));
}

/** Strategic merge: an item of a list replaces the one with its key, or comes before all. */
function merge(into: Tree, patch: Tree): void {
  for (const [field, value] of Object.entries(patch)) {
    const present = into[field];
    if (Array.isArray(value) && Array.isArray(present)) into[field] = mergedLists(field, present, value);
    else if (isTree(value) && isTree(present)) merge(present, value);
    else into[field] = structuredClone(value);
  }
}

function mergedLists(field: string, present: unknown[], patch: readonly unknown[]): unknown[] {
  if (!patch.every(isTree)) return structuredClone([...patch]);
  const key = field === 'volumeMounts' ? 'mountPath' : 'name';
  const before: Tree[] = [];
  for (const item of patch) {
    const same = present.find((one) => isTree(one) && one[key] === item[key]);
    if (isTree(same)) merge(same, item);
    else before.push(structuredClone(item));
  }
  return [...before, ...present];
}

const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function replace(resources: readonly Resource[], { source, targets }: Replacement): void {
  const from = resources.find(({ kind, metadata }) => kind === source.kind && metadata.name === source.name);
  const value = source.fieldPath.split('.').reduce<unknown>((node, step) => (node as Tree)[step], from);
  for (const { select, options, fieldPaths } of targets) {
    if (!options.create) throw new Error('replacements are known with create alone');
    for (const resource of resources.filter((one) => isSelected(one, select)))
      for (const path of fieldPaths) set(resource, path.split('.'), value);
  }
}

/** Makes what is not there; `[name=x]` is the item of a list that has that name. */
function set(node: Tree, [step = '', next = '', ...rest]: readonly string[], value: unknown): void {
  if (next === '') {
    node[step] = value;
    return;
  }
  const [, key, wanted] = /^\[(\w+)=(.+)\]$/.exec(next) ?? [];
  if (key === undefined) {
    if (node[step] === undefined) throw new Error(`${step} is not there`);
    set(node[step] as Tree, [next, ...rest], value);
    return;
  }
  const list = (node[step] ??= []) as Tree[];
  let item = list.find((one) => one[key] === wanted);
  if (item === undefined) list.push((item = { [key]: wanted }));
  set(item, rest, value);
}

type Image = NonNullable<Kustomization['images']>[number];

function setImages(resources: readonly Resource[], { name, newName, newTag }: Image): void {
  for (const container of resources.flatMap(containersOf))
    if (container.image?.split(':')[0] === name) container.image = `${newName}:${newTag}`;
}

function containersOf({ spec }: Resource): { image?: string }[] {
  const pod = (spec as { template?: { spec?: Tree } } | undefined)?.template?.spec ?? {};
  return [pod.initContainers, pod.containers].flatMap((list) => (list ?? []) as { image?: string }[]);
}
