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

it.each([
  ['127', 127n], ['255', 255n], ['120', 127n], ['32_768', 32_768n], ['2147483647', 2n ** 31n - 1n], ['9223372036854775807', 2n ** 63n - 1n], ['9223372036854775808', 2n ** 63n], ['0x7f', 127n],
] as const)('writes no number that is too large for the type of %s', (text, largest) => {
  for (const other of MANY.map(() => otherNumber(text, secretDice) ?? '')) {
    expect(other).not.toBe(text);
    expect(BigInt(other.replaceAll('_', '')) <= largest).toBe(true);
  }
});

it.each([['3.4e38', 3.4e38], ['1.7976931348623157e308', 0]])('writes no fraction that is too large for the type of %s', (text, below) => {
  for (const other of MANY.map(() => otherNumber(text, secretDice))) expect(Number(other ?? -1)).toBeLessThan(below);
});

it('writes an octal number by its digits', () => {
  for (const other of MANY.map(() => otherNumber('0644', secretDice))) expect(other).toMatch(/^0(?!644)[0-7]{3}$/);
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
