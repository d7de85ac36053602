import type { Estimate } from '../protocol/training.ts';
import { estimate, mean } from '../train/statistics/statistics.ts';
import type { ContestantResult } from './compare.ts';
import { aloneName, BASELINES } from './contestant.ts';

export interface Standing {
  readonly name: string;
  /** Share of correct answers. */
  readonly right: Estimate;
  /** Dollars for each task. */
  readonly costUsd: number;
  /** For a Conductor: the share of its texts that are valid plans. */
  readonly formatRate?: number | undefined;
}

export const standingOf = ({ name, outcomes }: ContestantResult): Standing => ({
  name,
  right: estimate(outcomes.map((row) => row.map(({ verified }) => Number(verified)))),
  costUsd: mean(outcomes.flat().map(({ costUsd }) => costUsd)),
});

/** A Markdown table of the contestants' results. */
export function gymReport(results: readonly ContestantResult[]): string {
  const seeds = results[0]?.outcomes.length ?? 0;
  const tasks = results[0]?.outcomes[0]?.length ?? 0;
  return [
    'Simulation: workers with made-up skills and prices on the tasks of the gym. It shows nothing about real models.',
    '',
    `${tasks} tasks, ${seeds} seeds; 95 % intervals by the bootstrap over tasks and seeds.`,
    '',
    standingsTable(results.map(standingOf)),
  ].join('\n');
}

/** Separates contestants from their modified versions, such as `Conductor, every step reads everything`. */
export function withVariantsApart(standings: readonly Standing[]): { readonly contestants: Standing[]; readonly variants: Standing[] } {
  const isVariant = ({ name }: Standing): boolean => standings.some((other) => name.startsWith(`${other.name}, `));
  return { contestants: standings.filter((standing) => !isVariant(standing)), variants: standings.filter(isVariant) };
}

/** Adds each score's position between random plans (0) and the oracle (1). Both are taken from `among`, even if they are not shown. */
export function standingsTable(standings: readonly Standing[], among: readonly Standing[] = standings): string {
  const rightOf = (name: string): number | undefined => among.find((standing) => standing.name === name)?.right.mean;
  const [random, oracle] = [rightOf(BASELINES.random), rightOf(BASELINES.oracle)];
  const wayOf = ({ mean: right }: Estimate): string =>
    random === undefined || oracle === undefined || oracle === random ? '' : `${Math.round((100 * (right - random)) / (oracle - random))} %`;
  const hasTexts = standings.some(({ formatRate }) => formatRate !== undefined);
  const row = (cells: readonly string[]): string => `| ${cells.slice(0, hasTexts ? 6 : 5).join(' | ')} |`;
  return [
    row(['contestant', 'right', '95 % interval', '$ per 1,000 tasks', 'way from random to oracle', 'texts that are plans']),
    row(['---', '---:', '---:', '---:', '---:', '---:']),
    ...standings.map(({ name, right, costUsd, formatRate }) => row([
      name, percent(right.mean), `${percent(right.low)} to ${percent(right.high)}`, (costUsd * 1_000).toFixed(2), wayOf(right),
      formatRate === undefined ? '' : percent(formatRate),
    ])),
    '',
  ].join('\n');
}

/** The best single worker, chosen in hindsight. */
export const BEST_ALONE = 'best worker alone, in hindsight';

/** The same result under another name. */
export function bestAlone(results: readonly ContestantResult[], workers: readonly string[]): ContestantResult {
  const rightOf = ({ outcomes }: ContestantResult): number => mean(outcomes.flat().map(({ verified }) => Number(verified)));
  const singles = results.flatMap((result) => workers.filter((worker) => aloneName(worker) === result.name).map((worker) => ({ worker, result })));
  if (singles.length === 0) throw new RangeError('None of the results is of a worker alone.');
  const { worker, result } = singles.reduce((a, b) => (rightOf(b.result) > rightOf(a.result) ? b : a));
  return { name: `${BEST_ALONE} (${worker})`, outcomes: result.outcomes };
}

export function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
