import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/longest-first.ts';
import { pathsOfPythonItself } from './test/support/python-itself.ts';
import { NO_TEST_FILES, SANDBOX_TEST_FILES, SLOW_TEST_FILES, TEST_FILES } from './test/suites.ts';

const cores = availableParallelism();

// These wait for processes and disks half of the time, so there is room for more of them than there are cores.
const SLOW = { exclude: NO_TEST_FILES, maxWorkers: 2 * cores, sequence: { groupOrder: 1 }, testTimeout: 60_000, hookTimeout: 60_000 };

export default defineConfig({
  test: {
    env: pathsOfPythonItself(),
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Only a test that fails waits so long.
    expect: { poll: { timeout: 20_000 } },
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'quick',
          include: TEST_FILES,
          exclude: [...NO_TEST_FILES, ...SLOW_TEST_FILES],
          maxWorkers: cores,
          // Each process loads a module once for all of its files, which takes a third of the time off. So a file leaves nothing changed behind.
          isolate: false,
        },
      },
      { extends: true, test: { ...SLOW, name: 'slow', include: SLOW_TEST_FILES } },
      // The same tests with the walls that are not taken first here.
      { extends: true, test: { ...SLOW, name: 'other-walls', include: SANDBOX_TEST_FILES, env: { CONDUCTOR_WALLS: process.getuid?.() === 0 ? 'bubblewrap' : 'namespaces' } } },
    ],
  },
});
