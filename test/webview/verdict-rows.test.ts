import { describe, expect, it } from 'vitest';
import type { TestChange, TestStatus } from '../../backend/protocol/verdict.ts';
import { passCount, verdictRows, type ChangeKind } from '../../webview/verdict-rows.ts';
import { REGRESSED, VERIFIED } from './fixtures.ts';

const test = (before: TestStatus, after: TestStatus): TestChange => ({ id: 'a', before, after });

describe('verdictRows', () => {
  it('puts mended tests first, then broken ones, then those that still fail', () => {
    expect(verdictRows(REGRESSED.tests).rows.map((row) => row.kind)).toEqual(['mended', 'broken', 'still-failing']);
  });

  it('counts what did not change instead of listing it', () => {
    expect(verdictRows(REGRESSED.tests)).toMatchObject({ keptPassing: 11, neverRun: 1 });
  });

  it.each<[TestStatus, TestStatus, ChangeKind]>([
    ['failed', 'passed', 'mended'],
    ['passed', 'failed', 'broken'],
    ['passed', 'missing', 'broken'],
    ['passed', 'skipped', 'broken'],
    ['missing', 'failed', 'broken'],
    ['failed', 'failed', 'still-failing'],
    ['failed', 'missing', 'still-failing'],
    ['missing', 'passed', 'added'],
  ])('calls a test that went from %s to %s %s', (before, after, kind) => {
    expect(verdictRows([test(before, after)]).rows[0]?.kind).toBe(kind);
  });
});

describe('passCount', () => {
  it('counts tests that pass now, of all that ran before or after', () => {
    expect(passCount(VERIFIED)).toEqual({ passed: 14, total: 14 });
    expect(passCount(REGRESSED)).toEqual({ passed: 12, total: 14 });
  });

  it('counts a test that disappeared as one that ought to pass', () => {
    expect(passCount({ ...VERIFIED, tests: [test('passed', 'missing')] })).toEqual({ passed: 0, total: 1 });
  });
});
