/** The rule file: recording rules and alerts, for the options that an operator gives. */
import { stringify } from 'yaml';
import type { Alert } from './alert.ts';
import { alertingRule } from './alert.ts';
import { processAlerts } from './alerts-processes.ts';
import { sessionAlerts } from './alerts-sessions.ts';
import type { RulesOptions } from './options.ts';
import { recordingRules } from './recording.ts';
import type { RuleGroup } from './rule.ts';

export { DEFAULT_RULES_OPTIONS, type RulesOptions } from './options.ts';

/** Every alert, in the order of the rule file. */
export const alertsOf = (options: RulesOptions): Alert[] => [
  ...sessionAlerts(options),
  ...processAlerts(options),
];

export const ruleGroups = (options: RulesOptions): RuleGroup[] => [
  { name: 'mcp-retention-recording', rules: recordingRules(options) },
  {
    name: 'mcp-retention-alerts',
    rules: alertsOf(options).map((alert) => alertingRule(alert, options.runbooks)),
  },
];

/** Files to write below the dashboards' folder: paths relative to it. */
export const rulesFiles = (options: RulesOptions): { readonly path: string; readonly text: string }[] => [
  { path: 'rules/mcp-retention.rules.yml', text: HEADER + ruleText(options) },
];

const ruleText = (options: RulesOptions): string =>
  stringify({ groups: ruleGroups(options) }, { lineWidth: 0 });

const HEADER = '# Generated from dashboards/rules by `npm run generate`; do not edit.\n';
