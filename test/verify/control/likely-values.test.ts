import { expect, it } from 'vitest';
import { otherNumber, otherText } from '../../../backend/verify/control/likely-values.ts';
import { secretDice } from '../../../backend/verify/control/dice.ts';

const MANY = Array.from({ length: 200 }, (_, index) => index);

it.each(['0', '7', '10', '600', '1_000', '0x1F', '0b101', '42n', '0.2', '1e9', '100.0'])('writes another number as this one is written: %s', (text) => {
  const others = MANY.map(() => otherNumber(text, secretDice) ?? '');
  for (const other of others) {
    expect(other).not.toBe(text);
    expect(other.replaceAll(/\d/g, '0')).toHaveLength(text.length);
    expect(Number(other.replace('n', '').replaceAll('_', ''))).not.toBe(Number(text.replace('n', '').replaceAll('_', '')));
    expect(other).not.toMatch(/^0\d/);
  }
  expect(new Set(others).size).toBeGreaterThan(1);
});

it.each([['210', 40], ['2', 0.9], ['0.30', 0.01]] as const)('goes beyond a tolerance: %s, %d', (text, tolerance) => {
  for (const other of MANY.map(() => otherNumber(text, secretDice, tolerance)))
    if (other !== undefined) expect(Math.abs(Number(other) - Number(text))).toBeGreaterThan(tolerance);
});

it('alters no number of which the tolerance may still be met', () => {
  expect(otherNumber('3', secretDice, 1_000)).toBeUndefined();
});

it.each(['a', 'total', 'Ada 42', String.raw`\n\x41b`, '---', '', '{"a": 1}', 'größe'])('writes another text as this one is written: %j', (text) => {
  for (const other of MANY.map(() => otherText(text, secretDice))) {
    expect(other).not.toBe(text);
    if (text !== '') expect(other).toHaveLength(text.length);
    expect(other.match(/\\./g)).toEqual(text.match(/\\./g));
  }
});

it('changes all letters and digits of a text that may be part of another one', () => {
  for (const other of MANY.map(() => otherText('not odd: 42', secretDice, { every: true })))
    expect([...other].filter((sign, index) => sign === 'not odd: 42'[index])).toEqual([' ', ':', ' ']);
});
