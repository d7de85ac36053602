import { describe, expect, it } from 'vitest';
import { differing, settle } from '../../backend/verify/judge/flaky.ts';
import { judge } from '../../backend/verify/judge/judge.ts';
import { report } from './reports.ts';

const run = (...lines: string[]): { report: ReturnType<typeof report>; exitCode: number } => ({
  report: report(...lines),
  exitCode: lines.some((line) => line.startsWith('✗')) ? 1 : 0,
});

describe('two runs of the same code', () => {
  it('tell of every test that ended differently or is missing in one', () => {
    const found = differing(report('✓ a', '✗ b', '- c', '✓ d', '✗ [f]'), report('✓ a', '✓ b', '✗ c', '✓ e', '✗ [f]'));
    expect([...found].sort()).toEqual(['b', 'c', 'd', 'e']);
  });

  it('tell of no test that failed in one and was hidden in the other by its file, which broke off', () => {
    const [whole, cut] = [report('✗ f > a', '✓ f > b', '✗ g > c'), report('✗ [f]')];
    expect([...differing(whole, cut)].sort()).toEqual(['f', 'f > b', 'g > c']);
    expect([...differing(cut, whole)].sort()).toEqual(['f', 'f > b', 'g > c']);
  });

  const rows: [name: string, before: string[], first: string[], second: string[], verified: boolean, flaky: string[]][] = [
    ['the same twice', ['✗ a', '✓ b'], ['✓ a', '✓ b'], ['✓ a', '✓ b'], true, []],
    ['one that passed before fails in the first run only', ['✗ a', '✓ b'], ['✓ a', '✗ b'], ['✓ a', '✓ b'], true, ['b']],
    ['one that passed before fails in the second run only', ['✗ a', '✓ b'], ['✓ a', '✓ b'], ['✓ a', '✗ b'], true, ['b']],
    ['one that passed before fails in both', ['✗ a', '✓ b'], ['✓ a', '✗ b'], ['✓ a', '✗ b'], false, []],
    ['one that passed before is missing in the second run', ['✗ a', '✓ b'], ['✓ a', '✓ b'], ['✓ a'], true, ['b']],
    ['one that passed before fails once, and is hidden by its file in the other', ['✗ a', '✓ f > b'], ['✓ a', '✗ f > b'], ['✓ a', '✗ [f]'], false, []],
    ['one that was to be mended is made random', ['✗ a', '✗ c'], ['✓ a', '✓ c'], ['✓ a', '✗ c'], false, []],
    ['one that was to be mended is made random, the other way', ['✗ a', '✗ c'], ['✓ a', '✗ c'], ['✓ a', '✓ c'], false, []],
    ['one that was to be mended is skipped once', ['✗ a'], ['✓ a'], ['- a'], false, []],
    ['one that was to be mended is missing once', ['✗ a', '✗ c'], ['✓ a', '✓ c'], ['✓ a'], false, []],
    ['a new one fails once', ['✗ a'], ['✓ a', '✓ n'], ['✓ a', '✗ n'], false, []],
    ['a new one is there once and fails', ['✗ a'], ['✓ a'], ['✓ a', '✗ n'], false, []],
    ['a skipped one fails once', ['✗ a', '- s'], ['✓ a', '- s'], ['✓ a', '✗ s'], false, []],
  ];
  it.each(rows)('settle on a verdict: %s', (_, before, first, second, verified, flaky) => {
    const settled = settle(report(...before), run(...first), run(...second));
    expect([...settled.flaky]).toEqual(flaky);
    const judgement = judge(report(...before), settled, { flaky: settled.flaky });
    expect(judgement.verified).toBe(verified);
    expect(judgement.tests.filter((test) => test.flaky).map(({ id }) => id)).toEqual(flaky);
  });

  it('do not settle on an end that one of them contradicts', () => {
    const green = report('✓ a');
    for (const exitCode of [1, null]) {
      expect(settle(report('✗ a'), { report: green, exitCode: 0 }, { report: green, exitCode }).exitCode).toBe(exitCode);
      expect(settle(report('✗ a'), { report: green, exitCode }, { report: green, exitCode: 0 }).exitCode).toBe(exitCode);
    }
  });
});
