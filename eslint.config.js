import js from '@eslint/js';
import tseslint from 'typescript-eslint';

// k6's runtime hangs on these, so what it loads may not use them.
const k6Hangs = [
  { selector: 'Decorator', message: 'k6 hangs on decorators.' },
  { selector: 'VariableDeclaration[kind=/using/]', message: 'k6 hangs on using.' },
  { selector: 'ForOfStatement[await=true]', message: 'k6 hangs on for await.' },
];

export default tseslint.config(
  {
    ignores: [
      'dist/',
      'node_modules/',
      'schemas/',
      '**/*.generated.ts',
      '**/*.cjs',
      '.mcp-retention/',
      'test/fixtures/consumer/',
    ],
  },
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      'max-lines': ['error', { max: 250, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 40, skipBlankLines: true, skipComments: true }],
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      '@typescript-eslint/no-unnecessary-condition': 'off',
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      'no-restricted-syntax': [
        'error',
        {
          selector: "CallExpression[callee.object.name='process'][callee.property.name='exit']",
          message: 'Only src/cli/main.ts exits.',
        },
      ],
    },
  },
  { files: ['src/cli/main.ts'], rules: { 'no-restricted-syntax': 'off' } },
  {
    files: [
      'src/cases/**/*.ts',
      'src/protocol/**/*.ts',
      'src/metrics/**/*.ts',
      'src/ledger/policy.ts',
      'loadtests/**/*.ts',
    ],
    rules: { 'no-restricted-syntax': ['error', ...k6Hangs] },
  },
  {
    files: ['test/**/*.ts', 'bench/**/*.ts', 'scripts/**/*.ts'],
    rules: {
      'max-lines-per-function': 'off',
      'no-restricted-syntax': 'off',
      // node:test's test() returns a promise that the runner itself awaits.
      '@typescript-eslint/no-floating-promises': [
        'error',
        {
          allowForKnownSafeCalls: [
            { from: 'package', name: ['test', 'describe', 'it'], package: 'node:test' },
          ],
        },
      ],
    },
  },
);
