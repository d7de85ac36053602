import { defineConfig } from 'vitest/config';

export default defineConfig({
  cacheDir: '../../node_modules/.vite',
  test: {
    root: import.meta.dirname,
    include: ['flows/**/*.test.ts'],
    globalSetup: 'harness/install-once.ts',
    // A module of one flow knows nothing of another: the harness need not be loaded again for each.
    isolate: false,
    // Each flow runs a VS Code, a browser and a backend, which wait for one another more than half of the time.
    maxWorkers: 3,
    testTimeout: 300_000,
    hookTimeout: 120_000,
    // What a window shows sooner or later; a busy machine takes longer than the second that is usual.
    expect: { poll: { timeout: 30_000 } },
  },
});
