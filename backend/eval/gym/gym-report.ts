import type { ContestantResult } from './compare.ts';
import { aloneName, BASELINES } from './contestants.ts';
import type { Estimate } from '../../protocol/training.ts';
import { estimate, mean } from '../../train/statistics.ts';

/** A Markdown table of what contestants reached, with the share of the way from random plans to the oracle. */
export function gymReport(results: readonly ContestantResult[]): string {
  const rows = results.map(({ name, outcomes }) => ({
    name,
    right: estimate(outcomes.map((row) => row.map(({ verified }) => Number(verified)))),
    costUsd: mean(outcomes.flat().map(({ costUsd }) => costUsd)),
  }));
  const rightOf = (name: string): number | undefined => rows.find((row) => row.name === name)?.right.mean;
  const [random, oracle] = [rightOf(BASELINES.random), rightOf(BASELINES.oracle)];
  const shareOf = ({ mean: right }: Estimate): string =>
    random === undefined || oracle === undefined || oracle === random
      ? '' : `${Math.round((100 * (right - random)) / (oracle - random))} %`;
  const seeds = results[0]?.outcomes.length ?? 0;
  const tasks = results[0]?.outcomes[0]?.length ?? 0;
  return [
    'Simulation: workers with made-up skills and prices on the tasks of the gym. It shows nothing about real models.',
    '',
    `${tasks} tasks, ${seeds} seeds; 95 % intervals by the bootstrap over tasks and seeds.`,
    '',
    '| contestant | right | 95 % interval | $ per 1,000 tasks | way from random to oracle |',
    '|---|---:|---:|---:|---:|',
    ...rows.map(({ name, right, costUsd }) =>
      `| ${name} | ${percent(right.mean)} | ${percent(right.low)} to ${percent(right.high)} | ` +
      `${(costUsd * 1_000).toFixed(2)} | ${shareOf(right)} |`),
    '',
  ].join('\n');
}

/** The worker that did best alone, chosen in hindsight: its result under a name of its own. */
export function bestAlone(results: readonly ContestantResult[], workers: readonly string[]): ContestantResult {
  const rightOf = ({ outcomes }: ContestantResult): number => mean(outcomes.flat().map(({ verified }) => Number(verified)));
  const names = new Set(workers.map(aloneName));
  const singles = results.filter(({ name }) => names.has(name));
  if (singles.length === 0) throw new RangeError('None of the results is of a worker alone.');
  const best = singles.reduce((a, b) => (rightOf(b) > rightOf(a) ? b : a));
  return { name: `best worker alone, in hindsight (${best.name.replace(/ alone$/, '')})`, outcomes: best.outcomes };
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
