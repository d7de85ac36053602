import { defineConfig } from 'vitest/config';
import { NO_TEST_FILES, SLOW_TEST_FILES, TEST_FILES } from './suites.ts';

/** The tests that judge mutants: of `npm test`, those of the rooms that `stryker.config.json` names. */
export default defineConfig({
  test: {
    include: TEST_FILES.map((pattern) => pattern.replace('test/', 'test/{conductor,journal,solve,train,workflow}/')),
    // A mutant lives in the process of the test; the processes that this file starts know nothing of it.
    exclude: [...NO_TEST_FILES, ...SLOW_TEST_FILES, 'test/journal/processes.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
