import { code, type Family } from './family.ts';

export const fractionsFamily: Family = {
  kind: 'numbers',
  name: 'fractions',
  path: 'src/fractions.js',
  testPath: 'test/fractions.test.js',
  summary: 'exact fractions: adding, comparing, writing them down',
  exports: ['greatestCommonDivisor', 'fraction', 'addFractions', 'compareFractions', 'formatFraction'],
  difficulty: 0.2,
  source: code`
/** The greatest common divisor of two whole numbers, never negative. */
export function greatestCommonDivisor(first, second) {
  let [larger, smaller] = [Math.abs(first), Math.abs(second)];
  while (smaller !== 0) {
    [larger, smaller] = [smaller, larger % smaller];
  }
  return larger;
}

/** A fraction in lowest terms, its denominator positive. */
export function fraction(numerator, denominator = 1) {
  if (denominator === 0) throw new RangeError('a denominator must not be 0');
  const divisor = greatestCommonDivisor(numerator, denominator) * Math.sign(denominator);
  return { numerator: numerator / divisor, denominator: denominator / divisor };
}

export function addFractions(left, right) {
  return fraction(
    left.numerator * right.denominator + right.numerator * left.denominator,
    left.denominator * right.denominator,
  );
}

/** Negative where left is smaller, positive where it is larger, 0 where they are equal: fit for sort. */
export function compareFractions(left, right) {
  return left.numerator * right.denominator - right.numerator * left.denominator;
}

/** As people write it: 3, 1/2 or -2 1/3. */
export function formatFraction({ numerator, denominator }) {
  const sign = numerator < 0 ? '-' : '';
  const whole = Math.floor(Math.abs(numerator) / denominator);
  const rest = Math.abs(numerator) % denominator;
  if (rest === 0) return sign + whole;
  const part = rest + '/' + denominator;
  return sign + (whole === 0 ? part : whole + ' ' + part);
}
`,
  test: code`
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addFractions, compareFractions, formatFraction, fraction, greatestCommonDivisor } from '../src/fractions.js';

test('the greatest common divisor is never negative', () => {
  assert.equal(greatestCommonDivisor(12, 18), 6);
  assert.equal(greatestCommonDivisor(4, -6), 2);
});

test('a fraction is reduced to lowest terms', () => {
  assert.deepEqual(fraction(6, 8), { numerator: 3, denominator: 4 });
  assert.deepEqual(fraction(0, 5), { numerator: 0, denominator: 1 });
});

test('the sign stands in the numerator', () => {
  assert.deepEqual(fraction(1, -2), { numerator: -1, denominator: 2 });
  assert.deepEqual(fraction(-3, -6), { numerator: 1, denominator: 2 });
});

test('a denominator of 0 is refused', () => {
  assert.throws(() => fraction(1, 0), RangeError);
});

test('fractions with different denominators are added', () => {
  assert.deepEqual(addFractions(fraction(1, 2), fraction(1, 3)), { numerator: 5, denominator: 6 });
  assert.deepEqual(addFractions(fraction(1, 4), fraction(-1, 4)), { numerator: 0, denominator: 1 });
});

test('fractions are sorted by value', () => {
  const sorted = [fraction(3, 4), fraction(2, 3), fraction(-1, 2)].sort(compareFractions);
  assert.deepEqual(sorted, [fraction(-1, 2), fraction(2, 3), fraction(3, 4)]);
  assert.ok(compareFractions(fraction(1, 2), fraction(2, 5)) > 0);
});

test('fractions are written as mixed numbers', () => {
  assert.equal(formatFraction(fraction(1, 2)), '1/2');
  assert.equal(formatFraction(fraction(6, 2)), '3');
  assert.equal(formatFraction(fraction(-7, 3)), '-2 1/3');
});
`,
  variants: [
    {
      id: 'sign-in-denominator',
      edits: [{ find: ' * Math.sign(denominator);', replace: ';' }],
      diagnosis: 'a negative denominator keeps its sign instead of handing it to the numerator',
      symptoms: [
        'fraction(1, -2) has the denominator -2; the sign should be in the numerator.',
        'Negative denominators survive in fraction, and then nothing compares equal any more.',
      ],
      subtlety: 0.5,
    },
    {
      id: 'negative-divisor',
      edits: [{ find: '[Math.abs(first), Math.abs(second)]', replace: '[first, second]' }],
      diagnosis: 'the divisor is computed without taking absolute values first, so it can come out negative',
      symptoms: ['greatestCommonDivisor(4, -6) is -2.', 'With negative numbers greatestCommonDivisor returns a negative result.'],
      subtlety: 0.5,
    },
    {
      id: 'denominators-added',
      edits: [{ find: '    left.denominator * right.denominator,\n', replace: '    left.denominator + right.denominator,\n' }],
      diagnosis: 'the denominators are added up where they have to be multiplied',
      symptoms: [
        'addFractions of 1/2 and 1/3 gives 1 instead of 5/6.',
        'Sums from addFractions are wrong unless both fractions are halves.',
      ],
      subtlety: 0.3,
    },
    {
      id: 'numerators-compared',
      edits: [
        {
          find: 'return left.numerator * right.denominator - right.numerator * left.denominator;',
          replace: 'return left.numerator - right.numerator;',
        },
      ],
      diagnosis: 'only the numerators are compared and the denominators are ignored',
      symptoms: [
        'Sorting with compareFractions puts 1/2 before 2/5.',
        'compareFractions only works when the denominators are equal.',
      ],
      subtlety: 0.3,
    },
    {
      id: 'whole-rounded-down',
      edits: [{ find: 'Math.floor(Math.abs(numerator) / denominator)', replace: 'Math.floor(numerator / denominator)' }],
      diagnosis: 'the whole part of a negative fraction is rounded away from zero, and its sign is written a second time',
      symptoms: [
        'formatFraction prints "--3 1/3" for -7/3.',
        'Negative mixed numbers come out of formatFraction with two minus signs.',
      ],
      subtlety: 0.55,
    },
    {
      id: 'zero-written',
      edits: [{ find: "(whole === 0 ? part : whole + ' ' + part)", replace: "whole + ' ' + part" }],
      diagnosis: 'a whole part of 0 is written out in front of the fraction',
      symptoms: ['formatFraction(fraction(1, 2)) returns "0 1/2".', 'formatFraction writes a zero in front of small fractions.'],
      subtlety: 0.25,
    },
  ],
};
