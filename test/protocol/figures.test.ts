import { describe, expect, it } from 'vitest';
import {
  formatDuration, formatElapsed, formatMoney, formatStepSpent, formatTokens, formatUsd, formatWhen,
} from '../../backend/protocol/figures.ts';
import { BEGIN, usage } from '../webview/fixtures.ts';

describe('formatUsd', () => {
  it.each([
    [0, '$0'], [0.000_01, '<$0.0001'], [0.000_05, '$0.0001'], [0.0031, '$0.0031'], [0.0142, '$0.0142'], [0.024, '$0.024'],
    [0.5, '$0.50'], [0.1, '$0.10'], [0.999_94, '$0.9999'], [0.999_96, '$1.00'],
    [1, '$1.00'], [12.345, '$12.35'], [1234.5, '$1234.50'],
  ])('shows %s as %s', (usd, shown) => {
    expect(formatUsd(usd)).toBe(shown);
  });
});

describe('formatTokens', () => {
  it.each([
    [0, '0'], [842.166_666, '842'], [999, '999'], [999.7, '1.0k'], [1_000, '1.0k'], [1_400, '1.4k'], [9_949, '9.9k'], [9_950, '10k'], [38_400, '38k'],
    [999_500, '1.0M'], [1_200_420, '1.2M'],
  ])('shows %s as %s', (tokens, shown) => {
    expect(formatTokens(tokens)).toBe(shown);
  });
});

describe('formatDuration', () => {
  it.each([
    [0, '0.0 s'], [900, '0.9 s'], [12_400, '12.4 s'], [59_940, '59.9 s'],
    [60_000, '1 min 00 s'], [65_000, '1 min 05 s'], [3_723_000, '1 h 02 min'],
  ])('shows %s ms as %s', (ms, shown) => {
    expect(formatDuration(ms)).toBe(shown);
  });

  it('never rounds up to sixty seconds', () => {
    expect(formatDuration(59_999)).not.toContain('60');
  });
});

describe('formatElapsed', () => {
  it.each([[-5, '0 s'], [999, '0 s'], [1_000, '1 s'], [61_000, '1 min 01 s']])('shows %s ms as %s', (ms, shown) => {
    expect(formatElapsed(ms)).toBe(shown);
  });
});

describe('formatMoney', () => {
  it('says what it may cost at most', () => {
    expect(formatMoney({ usd: 0.0142, unpricedTokens: 0 }, 1)).toBe('$0.0142 of $1.00');
    expect(formatMoney({ usd: 0, unpricedTokens: 0 }, 0.001)).toBe('$0 of $0.001');
  });

  it('never shows unpriced tokens as free', () => {
    expect(formatMoney({ usd: 0, unpricedTokens: 3_100 }, 1)).toBe('3.1k tokens unpriced');
    expect(formatMoney({ usd: 0.02, unpricedTokens: 3_100 })).toBe('$0.02 + 3.1k tokens unpriced');
  });

  it('marks estimates', () => {
    expect(formatMoney({ usd: 0.02, unpricedTokens: 50, estimated: true }, 1)).toBe('~$0.02 of $1.00 + ~50 tokens unpriced');
    expect(formatMoney({ usd: 0, unpricedTokens: 0, estimated: true })).toBe('$0');
  });
});

describe('formatStepSpent', () => {
  it('shows tokens and money, and "unpriced" where nobody knows the price', () => {
    const priced = { usd: 0.0098, usage: usage(980), unpricedTokens: 0, estimated: false };
    expect(formatStepSpent(priced)).toEqual(['1.4k tok', '$0.0098']);
    expect(formatStepSpent({ ...priced, usd: 0, unpricedTokens: 1_400, estimated: true })).toEqual(['~1.4k tok', 'unpriced']);
  });

  it('shows nothing before anything was spent', () => {
    expect(formatStepSpent({ usd: 0, usage: usage(0, 0), unpricedTokens: 0, estimated: false })).toEqual([]);
  });
});

describe('formatWhen', () => {
  it.each([
    [0, 'just now'], [59_000, 'just now'], [8 * 60_000, '8 min ago'], [3 * 3_600_000, '3 h ago'], [26 * 3_600_000, '19 Nov'],
    [400 * 86_400_000, '16 Oct 2025'],
  ])('shows %s ms ago as %s', (ago, shown) => {
    expect(formatWhen(BEGIN - ago, BEGIN)).toBe(shown);
  });
});
