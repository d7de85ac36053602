import fc from 'fast-check';
import { expect, test } from 'vitest';
import { tokensOf, unitsIn, unitsOf } from '../../backend/context/tokens.ts';

test('seven ASCII characters are two tokens, any other character one or more', () => {
  expect(['', 'a', 'abcdefg', 'abcdefgh', 'größe', '大小', '😀'].map(tokensOf)).toEqual([0, 1, 2, 3, 3, 2, 2]);
});

test('texts that fit into a budget together are within it when they are joined', () => {
  fc.assert(fc.property(fc.array(fc.string({ unit: 'binary' })), (texts) => {
    const units = texts.reduce((sum, text) => sum + unitsOf(text), 0);
    const tokens = tokensOf(texts.join(''));
    expect(unitsOf(texts.join(''))).toBe(units);
    expect(unitsIn(tokens)).toBeGreaterThanOrEqual(units);
    expect(unitsIn(tokens - 1)).toBeLessThan(Math.max(1, units));
  }));
});
