/**
 * The boundaries between folders, as CONTRIBUTING.md describes them. Each folder of src/ may import from itself
 * and from those named here; nothing else.
 */
const ALLOWED = {
  protocol: [],
  cases: ['protocol'],
  recording: [],
  ledger: ['recording'],
  verdict: ['recording', 'ledger', 'cases', 'protocol'],
  report: ['verdict'],
  config: ['metrics'],
  observe: ['recording'],
  client: ['protocol'],
  drivers: ['cases', 'client', 'protocol', 'recording'],
  targets: ['cases', 'client', 'config', 'observe', 'recording'],
  run: ['cases', 'client', 'drivers', 'ledger', 'observe', 'recording', 'targets', 'verdict'],
  metrics: [],
  load: ['cases', 'client', 'drivers', 'ledger', 'metrics', 'observe', 'recording', 'targets'],
  cli: ['cases', 'config', 'load', 'recording', 'report', 'run', 'targets', 'verdict'],
};

/** The folders beside src/ that are part of the program. Of src/, only the command line imports them. */
const BESIDE = {
  exporters: ['config', 'metrics', 'observe'],
  dashboards: ['metrics'],
};

const boundaries = Object.entries(ALLOWED).map(([folder, others]) => ({
  name: `${folder}-boundary`,
  comment: `src/${folder} may import from: ${[folder, ...others].join(', ')}`,
  severity: 'error',
  from: { path: `^src/${folder}/` },
  to: {
    path: '^src/',
    pathNot: `^src/(${[folder, ...others].join('|')})/|^src/(version|log|root|cleanup|errno)\\.ts$`,
  },
}));

const beside = Object.entries(BESIDE).flatMap(([folder, others]) => [
  {
    name: `${folder}-boundary`,
    comment: `${folder} may import from src/: ${others.join(', ')}`,
    severity: 'error',
    from: { path: `^${folder}/` },
    to: {
      path: '^(src|exporters|dashboards)/',
      pathNot: `^${folder}/|^src/(${others.join('|')})/|^src/(version|log|root|cleanup|errno)\\.ts$`,
    },
  },
  {
    name: `${folder}-from-cli-only`,
    severity: 'error',
    from: { path: '^src/', pathNot: '^src/cli/' },
    to: { path: `^${folder}/` },
  },
]);

module.exports = {
  forbidden: [
    ...boundaries,
    ...beside,
    {
      name: 'runs-in-k6',
      comment: 'k6 loads cases and protocol: no Node built-ins and no npm packages there',
      severity: 'error',
      from: { path: '^src/(cases|protocol)/' },
      to: {
        dependencyTypes: ['core', 'npm', 'npm-dev', 'npm-optional', 'npm-peer', 'npm-no-pkg', 'unknown'],
      },
    },
    {
      name: 'no-cycles',
      severity: 'error',
      from: { path: '^src/' },
      to: { circular: true },
    },
    {
      name: 'no-dev-dependencies',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'], pathNot: '@types/' },
    },
    {
      name: 'no-orphans',
      severity: 'error',
      from: { orphan: true, path: '^src/', pathNot: '^src/(version|root)\\.ts$' },
      to: {},
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { extensions: ['.ts', '.js', '.json'] },
  },
};
