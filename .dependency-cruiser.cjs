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
  probe: ['observe', 'targets'],
  load: ['cases', 'client', 'drivers', 'ledger', 'metrics', 'observe', 'recording', 'targets'],
  prometheus: ['cases', 'ledger', 'metrics', 'targets', 'verdict'],
  cli: ['cases', 'config', 'load', 'prometheus', 'recording', 'report', 'run', 'targets', 'verdict'],
  api: ['cases', 'config', 'probe', 'recording', 'report', 'run', 'targets', 'verdict'],
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
    pathNot: `^src/(${[folder, ...others].join('|')})/|^src/(version|log|root|cleanup|errno|input)\\.ts$`,
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
      pathNot: `^${folder}/|^src/(${others.join('|')})/|^src/(version|log|root|cleanup|errno|input)\\.ts$`,
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
      comment: 'k6 loads these: no Node built-ins and no npm packages there, but k6 itself in loadtests',
      severity: 'error',
      from: { path: ['^src/(cases|protocol|metrics)/', '^src/ledger/policy\\.ts$', '^loadtests/'] },
      to: {
        dependencyTypes: ['core', 'npm', 'npm-dev', 'npm-optional', 'npm-peer', 'npm-no-pkg', 'unknown'],
        pathNot: ['^k6$', '^k6/', '^node_modules/@types/k6/'],
      },
    },
    {
      name: 'k6-in-loadtests-only',
      comment: 'Modules of k6 are there when k6 runs a script, and nowhere else',
      severity: 'error',
      from: { pathNot: '^(loadtests|node_modules|test/fixtures/k6)/' },
      to: { path: ['^k6$', '^k6/', '^node_modules/@types/k6/'] },
    },
    {
      name: 'loadtests-boundary',
      comment:
        'loadtests may import from src/: cases, protocol, metrics, ledger/policy.ts, and types of verdict/schema.ts',
      severity: 'error',
      from: { path: '^loadtests/' },
      to: {
        path: '^(src|exporters|dashboards|test)/',
        pathNot: '^src/(cases|protocol|metrics)/|^src/ledger/policy\\.ts$|^src/verdict/schema\\.ts$',
      },
    },
    {
      name: 'loadtests-schema-types-only',
      comment: 'The schema of the report is made with zod, which k6 cannot load',
      severity: 'error',
      from: { path: '^loadtests/' },
      to: { path: '^src/verdict/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'nothing-imports-loadtests',
      severity: 'error',
      from: { path: '^(src|exporters|dashboards)/' },
      to: { path: '^loadtests/' },
    },
    {
      name: 'index-exports-only',
      comment:
        'src/index.ts is the library, and the library is src/api with the types and errors that it speaks of',
      severity: 'error',
      from: { path: '^src/index\\.ts$' },
      to: { path: '^src/', pathNot: '^src/(api|probe|recording|targets|verdict)/' },
    },
    {
      name: 'nothing-imports-index',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^src/index\\.ts$' },
    },
    {
      name: 'runs-in-browser',
      comment: 'the page of the HTML report takes from the rest the shape of its data alone',
      severity: 'error',
      from: { path: '^src/report/html/page/' },
      to: { pathNot: '^src/report/html/(page/|data\\.ts$)|^node_modules/uplot/' },
    },
    {
      name: 'bundled-page',
      comment: 'the page reaches the report as the generated module',
      severity: 'error',
      from: { path: '^(src|exporters|dashboards)/', pathNot: '^src/report/html/page/' },
      to: { path: '^src/report/html/page/' },
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
      // What runs in the browser is bundled before it is published.
      from: { path: '^src/', pathNot: '^src/report/html/page/' },
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
