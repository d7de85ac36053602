import { describe, expect, it } from 'vitest';
import { changeKind, isRed, passCount, type ChangeKind } from '../../backend/protocol/test-changes.ts';
import type { TestChange, TestStatus } from '../../backend/protocol/verdict.ts';
import { isVerified } from '../../backend/protocol/verdict-facts.ts';

const test = (before: TestStatus, after: TestStatus, flaky = false): TestChange => ({ id: 'a', before, after, ...(flaky && { flaky }) });

describe('what became of a test', () => {
  it.each<[TestStatus, TestStatus, ChangeKind]>([
    ['failed', 'passed', 'mended'],
    ['passed', 'failed', 'broken'],
    ['passed', 'missing', 'broken'],
    ['passed', 'skipped', 'broken'],
    ['missing', 'failed', 'newly-failing'],
    ['skipped', 'failed', 'newly-failing'],
    ['failed', 'failed', 'still-failing'],
    ['failed', 'skipped', 'still-failing'],
    ['failed', 'missing', 'still-failing'],
    ['missing', 'passed', 'added'],
    ['passed', 'passed', 'kept'],
    ['skipped', 'skipped', 'not-run'],
    ['missing', 'skipped', 'not-run'],
  ])('from %s to %s: %s', (before, after, kind) => expect(changeKind(test(before, after))).toBe(kind));

  it('is not said of a flaky one, which speaks neither for nor against', () => {
    for (const flaky of [test('passed', 'failed', true), test('failed', 'passed', true)]) {
      expect(changeKind(flaky)).toBe('flaky');
      expect(isRed(flaky)).toBe(false);
    }
  });
});

describe('passCount', () => {
  it('counts tests that pass now, of all that ran before or after', () => {
    expect(passCount([test('passed', 'passed'), test('failed', 'failed'), test('skipped', 'skipped')])).toEqual({ passed: 1, passedBefore: 1, total: 2 });
  });

  it('counts a test that disappeared as one that ought to pass', () => {
    expect(passCount([test('passed', 'missing')])).toEqual({ passed: 0, passedBefore: 1, total: 1 });
  });

  it('leaves flaky tests out', () => {
    expect(passCount([test('passed', 'passed'), test('passed', 'failed', true)])).toEqual({ passed: 1, passedBefore: 1, total: 1 });
  });
});

it.each([
  [true, 'verified', true], [true, 'failed', false], [true, 'infrastructure', false], [false, 'verified', false],
] as const)('a verdict that says verified: %s and outcome: %s is verified: %s', (verified, outcome, expected) => {
  expect(isVerified({ verified, outcome })).toBe(expected);
});
