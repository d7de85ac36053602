import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { estimate } from '../../../backend/train/statistics/statistics.ts';
import { signFlipTest } from '../../../backend/train/trainings/compare.ts';

const interval = z.tuple([z.number(), z.number()]);
const figures = z.object({
  tasks: z.array(z.object({ values: z.array(z.number()), interval })),
  tasksAndSeeds: z.array(z.object({ rows: z.array(z.array(z.number())), interval })),
  pairs: z.array(z.object({ differences: z.array(z.number()), pValue: z.number() })),
}).parse(JSON.parse(await readFile(fileURLToPath(new URL('figures.json', import.meta.url)), 'utf8')));

/** Ours has 1,000 resamples in results; more of them show whether the method is the same, and not only the luck of the draw. */
const RESAMPLES = 10_000;

describe('intervals', () => {
  it.each(figures.tasks)('are those of SciPy\'s percentile bootstrap over $values.length tasks', ({ values, interval: [theirLow, theirHigh] }) => {
    const { low, high } = estimate([values], { seed: 5, resamples: RESAMPLES });
    // Means of 0 and 1 are 1/n apart: two draws may end one such step apart.
    expect(Math.abs(low - theirLow)).toBeLessThanOrEqual(1.01 / values.length);
    expect(Math.abs(high - theirHigh)).toBeLessThanOrEqual(1.01 / values.length);
  });

  it.each(figures.tasksAndSeeds)('are those of a bootstrap over $rows.length seeds and their tasks', ({ rows, interval: [theirLow, theirHigh] }) => {
    const { low, high } = estimate(rows, { seed: 5, resamples: RESAMPLES });
    expect(Math.abs(low - theirLow)).toBeLessThanOrEqual(0.015);
    expect(Math.abs(high - theirHigh)).toBeLessThanOrEqual(0.015);
  });

  it('are as good with the number of resamples that results have, within what chance does', () => {
    for (const { values, interval: [theirLow, theirHigh] } of figures.tasks) {
      const { low, high } = estimate([values]);
      expect(Math.abs(low - theirLow)).toBeLessThanOrEqual(Math.max(1.01 / values.length, 0.1 * (theirHigh - theirLow)));
      expect(Math.abs(high - theirHigh)).toBeLessThanOrEqual(Math.max(1.01 / values.length, 0.1 * (theirHigh - theirLow)));
    }
  });
});

it.each(figures.pairs)('p-values of pairs are those of SciPy\'s permutation test: $pValue', ({ differences, pValue }) => {
  // Four standard errors of 2,000 random draws, and the one that is counted in.
  const chance = 4 * Math.sqrt((pValue * (1 - pValue)) / 2_000) + 1 / 2_001;
  expect(Math.abs(signFlipTest(differences, 1) - pValue)).toBeLessThanOrEqual(chance);
});
