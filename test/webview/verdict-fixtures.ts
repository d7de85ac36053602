import type { TestChange, Verdict } from '../../backend/protocol/verdict.ts';

/* Verdicts of every outcome. */

function others(count: number, place = 'test/merge.test.ts > merge'): TestChange[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `${place} > case ${index + 1}`, before: 'passed' as const, after: 'passed' as const,
  }));
}

/** Of changes in a project whose test command was not found. */
export const UNKNOWN_VERDICT: Verdict = {
  verified: false, score: 0, outcome: 'infrastructure', tests: [], notes: [], command: '', sandboxed: true, durationMs: 0,
  reason: 'No test command was found in the last commit: name the one that runs the tests with --command "…".',
};

export const VERIFIED: Verdict = {
  verified: true,
  score: 1,
  outcome: 'verified',
  reason: 'Two failing tests pass, and the 12 others still do.',
  tests: [
    ...others(12),
    { id: 'test/merge.test.ts > merge > nested interval keeps its end', before: 'failed', after: 'passed' },
    { id: 'test/merge.test.ts > merge > touching intervals merge', before: 'failed', after: 'passed' },
  ],
  command: 'node --test',
  runner: 'node-test',
  tools: [{ name: 'Node', version: '24.11.0', asked: { by: '.nvmrc', version: '24', isMet: true } }],
  sandboxed: true, notes: [],
  durationMs: 812,
};

export const REGRESSED: Verdict = {
  verified: false,
  score: 0.42,
  outcome: 'failed',
  reason: 'One test still fails, and one that passed before fails now.',
  tests: [
    ...others(11),
    {
      id: 'test/merge.test.ts > merge > an empty list stays empty', before: 'passed', after: 'failed',
      message: "TypeError: Cannot read properties of undefined (reading '1')\n    at merge (src/merge.ts:11:34)",
    },
    { id: 'test/merge.test.ts > merge > nested interval keeps its end', before: 'failed', after: 'passed' },
    {
      id: 'test/merge.test.ts > merge > touching intervals merge', before: 'failed', after: 'failed',
      message: 'Expected values to be strictly deep-equal:\n+ [[1, 2], [2, 5]]\n- [[1, 5]]',
    },
    { id: 'test/merge.test.ts > merge > on a large list', before: 'skipped', after: 'skipped' },
  ],
  command: 'node --test',
  runner: 'node-test',
  sandboxed: true, notes: [],
  durationMs: 790,
};

/** Nothing broke, and what was red before still is. */
export const STILL_RED: Verdict = {
  ...REGRESSED,
  reason: 'Of 2 tests that failed before, 2 still did not pass.',
  tests: [
    ...others(12),
    { id: 'test/merge.test.ts > merge > nested interval keeps its end', before: 'failed', after: 'failed' },
    { id: 'test/clock.test.ts > clock > asks a server for the time', before: 'failed', after: 'failed', message: 'Error: getaddrinfo EAI_AGAIN time.example' },
  ],
};
export const redIds = ({ tests }: Pick<Verdict, 'tests'>): string[] => tests.filter(({ after }) => after === 'failed').map(({ id }) => id);

/** The tests pass, and nothing shows that they would notice a wrong answer; a test is flaky. */
export const NOTED: Verdict = {
  ...VERIFIED,
  verified: false,
  outcome: 'passes',
  reason: `${VERIFIED.reason} It is not shown that these tests would notice a wrong answer: no test that was fixed has an expected value that can be altered.`,
  tests: [
    ...VERIFIED.tests,
    { id: 'test/clock.test.ts > clock > ticks within a second', before: 'passed', after: 'failed', flaky: true },
  ],
  notes: [
    'A test is flaky and was left out: it did not end the same way twice.',
  ],
};

/** Nothing that counts failed before: a test that did is left out. */
export const LEFT_OUT: Verdict = {
  ...VERIFIED,
  verified: false,
  score: 0,
  outcome: 'passes',
  reason: 'No other test failed before the change, and 13 tests pass with it. It is not shown that they would notice a wrong change. 1 test failed before and was left out.',
  tests: [
    ...VERIFIED.tests.map((test) => (test.before === 'failed' ? { ...test, before: 'passed' as const } : test)).slice(1),
    { id: 'test/clock.test.ts > clock > knows the zones of this machine', before: 'failed', after: 'failed', message: 'no such zone', leftOut: true },
  ],
};

/** A large project, of which the change mends a part and breaks another. */
export const MANY_TESTS: Verdict = {
  ...REGRESSED,
  score: 0.9,
  reason: 'Of 40 tests that failed before, 6 still did not pass.',
  command: 'npm test --workspaces',
  runner: 'vitest',
  durationMs: 48_300,
  tests: [
    ...Array.from({ length: 12 }, (_, file) => others(45, `packages/core/test/part-${file + 1}.test.ts > part ${file + 1}`)).flat(),
    ...Array.from({ length: 34 }, (_, index): TestChange => ({
      id: `packages/parser/test/tokens.test.ts > tokens > ${index % 2 ? 'strings' : 'numbers'} > form ${index + 1}`,
      before: 'failed', after: 'passed',
    })),
    ...Array.from({ length: 6 }, (_, index): TestChange => ({
      id: `packages/parser/test/tokens.test.ts > tokens > escapes > form ${index + 1}`, before: 'failed', after: 'failed',
      message: `expected '\\u{${index}}' to be a letter`,
    })),
    { id: 'packages/cli/test/run.test.ts > prints its version', before: 'passed', after: 'missing' },
    { id: 'packages/cli/test/run.test.ts > ends with 2 where an option is unknown', before: 'missing', after: 'failed', message: 'exit code 1' },
    { id: 'packages/cli/test/watch.test.ts > sees a change', before: 'passed', after: 'failed', flaky: true },
    ...Array.from({ length: 3 }, (_, index): TestChange => ({
      id: `packages/cli/test/windows.test.ts > on Windows > case ${index + 1}`, before: 'skipped', after: 'skipped',
    })),
  ],
};
