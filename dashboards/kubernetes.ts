/** What a cluster takes of it: the rules as prometheus-operator has them, and a folder that `kubectl apply -k` reads. */
import { stringify } from 'yaml';
import type { DashboardFile } from './index.ts';
import { ruleGroups } from './rules/index.ts';
import type { RulesOptions } from './rules/options.ts';

/** Beside the ConfigMaps of the dashboards, which the kustomization names as well. */
export const kubernetesFiles = (options: RulesOptions): DashboardFile[] => [
  { path: 'prometheusrule.yaml', text: stringify(prometheusRule(options), STYLE) },
  { path: 'kustomization.yaml', text: HEADER + stringify(KUSTOMIZATION) },
];

const STYLE = { lineWidth: 0 } as const;

const HEADER =
  '# kubectl apply -k, once for each Prometheus: rules that are evaluated twice are recorded twice.\n';

const KUSTOMIZATION = {
  apiVersion: 'kustomize.config.k8s.io/v1beta1',
  kind: 'Kustomization',
  resources: ['configmaps.yaml', 'prometheusrule.yaml'],
};

const prometheusRule = (options: RulesOptions): object => ({
  apiVersion: 'monitoring.coreos.com/v1',
  kind: 'PrometheusRule',
  metadata: { name: 'mcp-retention', labels: { 'app.kubernetes.io/part-of': 'mcp-retention' } },
  spec: { groups: ruleGroups(options) },
});
