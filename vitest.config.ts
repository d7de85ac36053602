import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'test/**/*.test.tsx'],
    exclude: ['test/e2e/**', '**/node_modules/**', 'test/fixtures/**'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
