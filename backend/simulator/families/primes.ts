import { code, type Family } from './family.ts';

export const primesFamily: Family = {
  kind: 'numbers',
  name: 'primes',
  path: 'src/primes.js',
  testPath: 'test/primes.test.js',
  summary: 'primes, prime factors and divisors',
  exports: ['primesUpTo', 'primeFactors', 'countDivisors'],
  difficulty: 0.1,
  source: code`
/** All primes up to and including the limit, ascending (sieve of Eratosthenes). */
export function primesUpTo(limit) {
  const composite = new Uint8Array(Math.max(limit + 1, 0));
  const primes = [];
  for (let candidate = 2; candidate <= limit; candidate += 1) {
    if (composite[candidate]) continue;
    primes.push(candidate);
    for (let multiple = candidate * candidate; multiple <= limit; multiple += candidate) {
      composite[multiple] = 1;
    }
  }
  return primes;
}

/** The prime factors of a whole number of at least 1, ascending, each as often as it divides the number. */
export function primeFactors(number) {
  if (!Number.isInteger(number) || number < 1) throw new RangeError('number must be a whole number of at least 1');
  const factors = [];
  let rest = number;
  for (let divisor = 2; divisor * divisor <= rest; divisor += 1) {
    while (rest % divisor === 0) {
      factors.push(divisor);
      rest /= divisor;
    }
  }
  if (rest > 1) factors.push(rest);
  return factors;
}

/** How many whole numbers divide the number without a remainder. */
export function countDivisors(number) {
  const exponents = new Map();
  for (const factor of primeFactors(number)) {
    exponents.set(factor, (exponents.get(factor) ?? 0) + 1);
  }
  return [...exponents.values()].reduce((product, exponent) => product * (exponent + 1), 1);
}
`,
  test: code`
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countDivisors, primeFactors, primesUpTo } from '../src/primes.js';

test('primes below 30 are listed in order', () => {
  assert.deepEqual(primesUpTo(30), [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]);
});

test('a prime limit is included, a composite one is not', () => {
  assert.deepEqual(primesUpTo(7), [2, 3, 5, 7]);
  assert.deepEqual(primesUpTo(9), [2, 3, 5, 7]);
});

test('there are no primes below 2', () => {
  assert.deepEqual(primesUpTo(1), []);
  assert.deepEqual(primesUpTo(-5), []);
});

test('a factor is repeated as often as it divides', () => {
  assert.deepEqual(primeFactors(360), [2, 2, 2, 3, 3, 5]);
  assert.deepEqual(primeFactors(8), [2, 2, 2]);
});

test('the square of a prime has that prime twice', () => {
  assert.deepEqual(primeFactors(49), [7, 7]);
});

test('a large last factor is kept', () => {
  assert.deepEqual(primeFactors(2 * 97), [2, 97]);
  assert.deepEqual(primeFactors(13), [13]);
});

test('1 has no prime factors and one divisor', () => {
  assert.deepEqual(primeFactors(1), []);
  assert.equal(countDivisors(1), 1);
});

test('divisors are counted, the number itself among them', () => {
  assert.equal(countDivisors(12), 6);
  assert.equal(countDivisors(13), 2);
});
`,
  variants: [
    {
      id: 'limit-excluded',
      edits: [{ find: 'candidate <= limit', replace: 'candidate < limit' }],
      diagnosis: 'the outer loop of the sieve stops before the limit, so a prime limit is left out',
      symptoms: ['primesUpTo(7) returns [2, 3, 5]; 7 should be in it.', 'primesUpTo leaves out the limit even when it is prime.'],
      subtlety: 0.5,
    },
    {
      id: 'limit-not-crossed-out',
      edits: [{ find: 'multiple <= limit', replace: 'multiple < limit' }],
      diagnosis: 'multiples are crossed out only below the limit, so a composite limit passes for a prime',
      symptoms: ['primesUpTo(9) says that 9 is a prime.', 'primesUpTo sometimes ends with a number that is not prime.'],
      subtlety: 0.65,
    },
    {
      id: 'factor-once',
      edits: [{ find: 'while (rest % divisor === 0)', replace: 'if (rest % divisor === 0)' }],
      diagnosis: 'each divisor is divided out only once, so repeated factors are missed',
      symptoms: [
        'primeFactors(8) returns [2, 4], and 4 is not even prime.',
        'primeFactors gives composite numbers for powers of two.',
      ],
      subtlety: 0.35,
    },
    {
      id: 'rest-lost',
      edits: [{ find: '  if (rest > 1) factors.push(rest);\n', replace: '' }],
      diagnosis: 'what is left over after the loop, the largest prime factor, is never added',
      symptoms: ['primeFactors(13) is an empty list.', 'primeFactors loses the largest factor: for 194 it returns only [2].'],
      subtlety: 0.4,
    },
    {
      id: 'square-missed',
      edits: [{ find: 'divisor * divisor <= rest', replace: 'divisor * divisor < rest' }],
      diagnosis: 'the loop stops before a divisor whose square equals the rest, so squares of primes are not split',
      symptoms: [
        'primeFactors(49) returns [49].',
        'countDivisors(9) is 2, but 1, 3 and 9 divide it; primeFactors looks wrong for squares too.',
      ],
      subtlety: 0.7,
    },
    {
      id: 'exponent-as-is',
      edits: [{ find: 'product * (exponent + 1)', replace: 'product * exponent' }],
      diagnosis: 'the exponents are multiplied as they are, but a prime may also be taken zero times',
      symptoms: ['countDivisors(13) is 1, but 1 and 13 both divide it.', 'countDivisors(12) returns 2 instead of 6.'],
      subtlety: 0.45,
    },
  ],
};
