import { describe, expect, it } from 'vitest';
import type { Checker } from '../../backend/solve/checker.ts';
import { ANSWER, drivenRun, NO_TESTS, ONE_STEP } from './driven-run.ts';

/* What a person says of tests that fail before the answer. The verdicts are scripted here; how they are made is tested in test/verify. */

const PATCH = { edits: [{ path: 'src/a.js', kind: 'modify' as const, before: 'export const a = 1;\n', after: 'export const a = 2;\n' }], refused: [] };
const PASSES = { verified: false, score: 0, outcome: 'passes' as const, reason: 'They pass.', tests: [], notes: [], command: 'node --test', sandboxed: true, durationMs: 1 };
const WITH_TESTS = { workspace: '/project', testCommand: 'node --test' };

describe('which tests judge', () => {
  it.each<[string, Parameters<typeof drivenRun>[1], object]>([
    ['those that failed before', {}, { targets: undefined, leaveOut: undefined }],
    ['those that failed before, where they must pass', { failedBefore: 'must-pass' }, { targets: undefined, leaveOut: undefined }],
    ['those of the names', { tests: ['a > b'] }, { targets: ['a > b'], leaveOut: undefined }],
    ['those that failed before, but for those that were left out in earlier runs', { leftOut: ['a > b'] }, { leaveOut: ['a > b'] }],
    ['none that failed before, where these are left out', { failedBefore: 'leave-out' }, { leaveOut: 'failed before' }],
  ])('is %s, before the answer and with it', async (_which, asked, expected) => {
    const told: object[] = [];
    const tell = ({ targets, leaveOut }: Parameters<Checker['verify']>[0] | Parameters<NonNullable<Checker['testBase']>>[0]): void => void told.push({ targets, leaveOut });
    const run = await drivenRun([ONE_STEP, ANSWER], { ...WITH_TESTS, ...asked });
    await run.drive({
      checker: {
        ...NO_TESTS,
        parsePatch: async () => PATCH,
        testBase: async (request) => {
          tell(request);
          return { total: 2, failed: 0, flaky: 0, failing: [], durationMs: 1 };
        },
        verify: async (request) => {
          tell(request);
          return PASSES;
        },
      },
    });
    expect(told).toMatchObject([expected, expected]);
  });
});
