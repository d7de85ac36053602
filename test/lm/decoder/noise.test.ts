import { describe, expect, it } from 'vitest';
import { uniform } from '../../../backend/lm/decoder/noise.ts';
import { chiSquare, chiSquareLimit } from './chi-square.ts';

const COUNT = 40_000;

/** The correlation of pairs of uniform numbers; of independent ones it is about 1 / √count. */
function correlation(pairs: readonly (readonly [number, number])[]): number {
  return (12 / pairs.length) * pairs.reduce((sum, [left, right]) => sum + (left - 0.5) * (right - 0.5), 0);
}

const pairsOf = (pair: (index: number) => readonly [number, number]) => Array.from({ length: COUNT }, (_, index) => pair(index));

/** Five standard deviations. */
const UNRELATED = 5 / Math.sqrt(COUNT);

function expectEven(numbers: readonly number[]): void {
  const bins = 256;
  const counts = new Array<number>(bins).fill(0);
  for (const number of numbers) counts[Math.floor(number * bins)]! += 1;
  const { statistic, freedom } = chiSquare(counts, counts.map(() => numbers.length / bins));
  expect(freedom).toBe(bins - 1);
  expect(statistic).toBeLessThan(chiSquareLimit(freedom));
  // As even as chance, and no more: a counter would pass what is above.
  expect(statistic).toBeGreaterThan(freedom - 5 * Math.sqrt(2 * freedom));
}

describe('the uniform numbers of a seed', () => {
  it('are what they were when results were first kept', () => {
    // The first is the first of SplitMix64 with the state 0, as other libraries have it: 0xe220a8397b1dcdaf.
    const places = [[0, 0], [0, 1], [1, 0], [-1, 0], [42, 1000], [2 ** 53 - 1, 7], [1e300, 3]] as const;
    expect(places.map(([seed, index]) => uniform(seed, index) * 2 ** 24)).toEqual([
      14819496, 7239838, 12578688, 10844024, 14160056, 10106100, 16288696,
    ]);
  });

  it('lie on the grid of float32 in [0, 1)', () => {
    for (let index = 0; index < 10_000; index += 1) {
      const number = uniform(index, index);
      expect(number >= 0 && number < 1 && Math.fround(number) === number && Number.isInteger(number * 2 ** 24)).toBe(true);
    }
  });

  it.each([0, 1, -1, 12_345, -987_654_321, 2 ** 53 - 1, -(2 ** 53), 1e300])('are even for the seed %d', (seed) => {
    expectEven(Array.from({ length: COUNT }, (_, index) => uniform(seed, index)));
  });

  it('are even at one index over many seeds', () => {
    for (const index of [0, 1, 1000]) expectEven(Array.from({ length: COUNT }, (_, seed) => uniform(seed, index)));
  });

  it('do not depend on their neighbours, nor on those of neighbouring seeds', () => {
    const relations: Readonly<Record<string, (index: number) => readonly [number, number]>> = {
      'the next index': (index) => [uniform(7, index), uniform(7, index + 1)],
      'the next seed at the same index': (index) => [uniform(index, 3), uniform(index + 1, 3)],
      'the next seed along the indices': (index) => [uniform(7, index), uniform(8, index)],
      'the next seed one index later': (index) => [uniform(index, 5), uniform(index + 1, 4)],
      'the opposite seed': (index) => [uniform(index + 1, 0), uniform(-index - 1, 0)],
      'a seed and its double': (index) => [uniform(index, 0), uniform(2 * index, 0)],
      'a power of two away': (index) => [uniform(index, 0), uniform(index + 2 ** 32, 0)],
    };
    const correlations = Object.fromEntries(Object.entries(relations).map(([name, pair]) => [name, correlation(pairsOf(pair))]));
    for (const [name, value] of Object.entries(correlations)) expect(Math.abs(value), name).toBeLessThan(UNRELATED);
  });

  it('are of one seed only: no other begins the same way or comes in later', () => {
    const first = new Set<string>();
    for (let seed = -2_000; seed < 2_000; seed += 1) first.add(`${uniform(seed, 0)} ${uniform(seed, 1)}`);
    expect(first.size).toBe(4_000);
    const shifted = Array.from({ length: 200 }, (_, seed) => `${uniform(seed, 1)} ${uniform(seed, 2)}`).filter((pair) => first.has(pair));
    expect(shifted).toEqual([]);
  });
});
