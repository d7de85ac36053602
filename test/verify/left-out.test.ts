import { describe, expect, it } from 'vitest';
import { changeKind, isRed, passCount } from '../../backend/protocol/test-changes.ts';
import type { BaseRun } from '../../backend/verify/judge/base-run-cache.ts';
import { judge, type Judgement } from '../../backend/verify/judge/judge.ts';
import { leftOutCount, tellingLeftOut, withLeftOut, type LeavingOut } from '../../backend/verify/judge/left-out.ts';
import { report } from './reports.ts';

const base = (...lines: string[]): BaseRun => ({ report: report(...lines), exitCode: 1, flaky: new Set() });
const leftOutOf = (before: BaseRun, how: LeavingOut): string[] => [...(withLeftOut(before, how).leftOut ?? [])];

function judged(before: BaseRun, after: string[], how: LeavingOut, exitCode = 1): Judgement {
  const { report: was, flaky, leftOut } = withLeftOut(before, how);
  return judge(was, { report: report(...after), exitCode }, { flaky, leftOut });
}

describe('which tests are left out', () => {
  const before = base('✗ a', '✗ b', '✓ c', '- d');

  it('is none without a word, and all that failed before, or those of the names', () => {
    expect(leftOutOf(before, {})).toEqual([]);
    expect(leftOutOf(before, { leaveOut: 'failed before' })).toEqual(['a', 'b']);
    expect(leftOutOf(before, { leaveOut: ['b', 'c', 'd', 'gone'] })).toEqual(['b']);
  });

  it('is none that must pass by name, and none that is flaky anyway', () => {
    expect(leftOutOf(before, { leaveOut: 'failed before', targets: ['a'] })).toEqual(['b']);
    expect(leftOutOf({ ...before, flaky: new Set(['a']) }, { leaveOut: 'failed before' })).toEqual(['b']);
  });

  it('is also a suite that fails because of them, and then counts once', () => {
    const suite = base('✗ s > a', '✗ [s]', '✗ t > a', '✗ t > b', '✗ [t]');
    expect(leftOutOf(suite, { leaveOut: ['s > a', 't > a'] })).toEqual(['s > a', 's', 't > a', 't']);
    expect(leftOutOf(suite, { leaveOut: 'failed before', targets: ['s > a'] })).toEqual(['t > a', 't > b', 't']);
    expect(leftOutCount(withLeftOut(suite, { leaveOut: ['s > a', 't > a'] }))).toBe(2);
  });
});

describe('a judgement without tests that failed before', () => {
  it('is that of the others', () => {
    const before = base('✗ env', '✗ bug', '✓ c');
    expect(judged(before, ['✗ env', '✓ bug', '✓ c'], { leaveOut: ['env'] })).toMatchObject({ outcome: 'verified', score: 1, reason: '1 test that failed before passed, and 1 test that passed still did.' });
    expect(judged(before, ['✗ env', '✗ bug', '✓ c'], { leaveOut: ['env'] })).toMatchObject({ outcome: 'failed', reason: 'Of 1 test that failed before, 1 still did not pass.' });
    expect(judged(before, ['✗ env', '✓ bug', '✗ c'], { leaveOut: ['env'] })).toMatchObject({ outcome: 'failed', reason: expect.stringContaining('did not pass any more') });
    expect(judged(before, ['✗ env', '✓ bug'], { leaveOut: ['env'] })).toMatchObject({ outcome: 'failed' });
  });

  it('holds them, marked, and lets none of them speak for the change', () => {
    const { tests, outcome, reason } = judged(base('✗ env', '✗ bug', '✓ c'), ['✓ env', '✗ bug', '✓ c'], { leaveOut: 'failed before' });
    expect([outcome, reason]).toEqual(['failed', 'No test failed before the change.']);
    expect(tests.map((test) => [test.id, changeKind(test), isRed(test)])).toEqual([['env', 'left-out', false], ['bug', 'left-out', false], ['c', 'kept', false]]);
    expect(passCount(tests)).toEqual({ passed: 1, passedBefore: 1, total: 1 });
  });

  it('leaves out what a file hid that could not be loaded, and no test that passed in it', () => {
    expect(judged(base('✗ [f]', '✗ bug'), ['✗ f > new', '✓ bug'], { leaveOut: ['f'] })).toMatchObject({ outcome: 'verified' });
    const around = base('✗ [s]', '✓ s > a', '✗ bug');
    expect(judged(around, ['✗ [s]', '✓ s > a', '✓ bug'], { leaveOut: ['s'] })).toMatchObject({ outcome: 'verified' });
    expect(judged(around, ['✗ [s]', '✗ s > a', '✓ bug'], { leaveOut: ['s'] })).toMatchObject({ outcome: 'failed' });
    expect(judged(base('✗ [s]', '✓ s > a'), ['✓ [s]', '✓ s > a'], { leaveOut: ['s'] }, 0)).toMatchObject({ outcome: 'failed', reason: 'No test failed before the change.' });
  });

  it('counts a test that is new in a suite of theirs', () => {
    expect(judged(base('✗ s > env', '✗ [s]', '✗ bug'), ['✗ s > env', '✗ s > new', '✗ [s]', '✓ bug'], { leaveOut: ['s > env'] })).toMatchObject({ outcome: 'failed', reason: '1 test failed that had not failed before.' });
  });

  it('says how many they are', () => {
    const one = { verified: false, score: 0, outcome: 'passes', reason: 'So it is.', tests: [] } as const;
    expect(tellingLeftOut(withLeftOut(base('✗ a'), { leaveOut: 'failed before' }), one).reason).toBe('So it is. 1 test failed before and was left out.');
    expect(tellingLeftOut(withLeftOut(base('✗ a', '✗ b'), { leaveOut: 'failed before' }), one).reason).toBe('So it is. 2 tests failed before and were left out.');
    expect(tellingLeftOut(base('✗ a'), one)).toBe(one);
  });
});
