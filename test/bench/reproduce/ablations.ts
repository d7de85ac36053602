import { readFile } from 'node:fs/promises';
import { resultsSchema, type EvaluationResults } from '../../../backend/eval/evaluation/results.ts';
import { percent } from '../../../backend/protocol/figures.ts';
import { estimate, mean } from '../../../backend/train/statistics/statistics.ts';
import { signFlipTest } from '../../../backend/train/trainings/compare.ts';

/*
 * What each change of a Conductor is worth, for docs/reproduce.md: node ablations.ts RESULTS.JSON NAME. Pairs of the contestant NAME with each other
 * one on the same tasks and seeds.
 */

const [file = '', name = ''] = process.argv.slice(2);
const { contestants, samples } = resultsSchema.parse(JSON.parse(await readFile(file, 'utf8')));
const whole = tableOf(samples, name);
if (whole.length === 0) throw new Error(`There is no "${name}" in ${file}; there are ${contestants.map((row) => row.name).join(', ')}.`);
const points = (share: number): string => `${share < 0 ? '−' : '+'}${percent(Math.abs(share))}`;
for (const { name: other, right } of contestants) {
  const differences = tableOf(samples, other).map((row, seed) => row.map((value, task) => value - (whole[seed]?.[task] ?? 0)));
  const byTask = (differences[0] ?? []).map((_, task) => mean(differences.map((row) => row[task] ?? 0)));
  const { mean: difference, low, high } = estimate(differences);
  console.log(`| ${other} | ${percent(right.mean)} | ${points(difference)} | ${points(low)} to ${points(high)} | ${signFlipTest(byTask, 1).toFixed(3)} |`);
}

/** A row for each seed, a column for each task. */
function tableOf(all: EvaluationResults['samples'], contestant: string): number[][] {
  const own = all.filter((sample) => sample.contestant === contestant);
  const seeds = [...new Set(own.map(({ seed }) => seed))].sort((a, b) => a - b);
  return seeds.map((seed) => own.filter((sample) => sample.seed === seed).toSorted((a, b) => (a.task < b.task ? -1 : 1)).map(({ verified }) => Number(verified)));
}
