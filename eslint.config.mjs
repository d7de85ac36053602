import tseslint from 'typescript-eslint';

// What may import what is held by .dependency-cruiser.cjs; this file holds how a single file is written.
export default tseslint.config(
  { ignores: ['dist/**', 'node_modules/**', '**/node_modules/**', 'test/fixtures/**', 'test/e2e/artifacts/**', '**/*_pb.js', '**/*_pb.d.ts'] },
  ...tseslint.configs.recommended,
  {
    files: ['**/*.ts', '**/*.tsx'],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'no-restricted-syntax': [
        'error',
        { selector: 'ExportDefaultDeclaration', message: 'Named exports only: a thing has one name everywhere.' },
        { selector: 'ExportAllDeclaration', message: 'No barrels: import from the file that defines the thing.' },
      ],
    },
  },
  {
    // A rejection that nothing handles ends the backend and every run in it, and elsewhere it is an error that nobody sees. `void` would
    // hide one, so each has a handler.
    files: ['backend/**/*.ts', 'extension/**/*.ts', 'webview/**/*.ts', 'webview/**/*.tsx'],
    rules: { '@typescript-eslint/no-floating-promises': ['error', { ignoreVoid: false }] },
  },
  { files: ['backend/**/*.ts'], rules: { 'require-atomic-updates': 'error' } },
  { files: ['**/*.cjs'], rules: { '@typescript-eslint/no-require-imports': 'off' } },
  {
    // Configuration of tools that demand a default export.
    files: ['**/*.config.ts', '**/*.mjs'],
    rules: { 'no-restricted-syntax': 'off' },
  },
);
