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
  config: [],
  observe: ['recording'],
  client: ['protocol'],
  drivers: ['cases', 'client', 'protocol', 'recording'],
  targets: ['cases', 'client', 'config', 'observe', 'recording'],
  run: ['cases', 'client', 'drivers', 'ledger', 'observe', 'recording', 'targets', 'verdict'],
  cli: ['cases', 'config', 'recording', 'report', 'run', 'targets', 'verdict'],
};

const boundaries = Object.entries(ALLOWED).map(([folder, others]) => ({
  name: `${folder}-boundary`,
  comment: `src/${folder} may import from: ${[folder, ...others].join(', ')}`,
  severity: 'error',
  from: { path: `^src/${folder}/` },
  to: { path: '^src/', pathNot: `^src/(${[folder, ...others].join('|')})/|^src/(version|log)\\.ts$` },
}));

module.exports = {
  forbidden: [
    ...boundaries,
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
      from: { orphan: true, path: '^src/', pathNot: '^src/version\\.ts$' },
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
