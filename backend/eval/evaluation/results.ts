import * as z from 'zod';
import { resultRowSchema, type ResultRow, type Sample } from '../../protocol/evaluations.ts';
import { percent } from '../../protocol/figures.ts';
import { addUsage, NO_USAGE, totalTokens } from '../../protocol/token-counts.ts';
import { estimate, mean } from '../../train/statistics/statistics.ts';
import { signFlipTest } from '../../train/trainings/compare.ts';
import { isAlone } from '../contestant.ts';

/** The file `results.json`. The version changes with every change that a reader of the file would notice. */
export const resultsSchema = z.object({
  version: z.literal(1),
  conductor: z.string(),
  at: z.iso.datetime(),
  /** At least one worker is a simulation: the figures show nothing about real models. */
  simulated: z.boolean(),
  sources: z.array(z.object({ name: z.string(), tasks: z.number().int(), forms: z.record(z.string(), z.number().int()) })),
  tasks: z.number().int(),
  seeds: z.number().int(),
  pool: z.array(z.object({ id: z.string(), provider: z.string(), model: z.string(), inputPerMillion: z.number().optional(), outputPerMillion: z.number().optional() })),
  /** The worker that contestants with one worker use, and why it was chosen. */
  best: z.object({ worker: z.string(), why: z.string() }),
  /** What this evaluation has paid in all its processes; `paid` and `served` are the calls of the last one. */
  spent: z.object({
    usd: z.number(), tokens: z.number(), unpricedTokens: z.number(), calls: z.number().int(), lost: z.number().int(),
    paid: z.number().int(), served: z.number().int(),
  }),
  contestants: z.array(resultRowSchema),
  samples: z.array(z.object({
    contestant: z.string(), task: z.string(), seed: z.number().int(), verified: z.boolean(), score: z.number(), costUsd: z.number(),
  })),
});
export type EvaluationResults = z.infer<typeof resultsSchema>;

/**
 * A row for each contestant, in the order of the samples. Intervals are by the bootstrap over tasks and seeds. Contestants without a sample
 * for every task and seed that the others have, such as in an evaluation under way, are compared on the tasks that all have.
 */
export function resultRows(samples: readonly Sample[]): ResultRow[] {
  const names = [...new Set(samples.map(({ contestant }) => contestant))];
  const compared = comparable(samples, names);
  const of = (name: string): readonly Sample[] => compared.filter(({ contestant }) => contestant === name);
  const tables = new Map(names.map((name) => [name, tableOf(of(name))]));
  const rows = names.map((name) => rowOf(name, of(name), tables.get(name) ?? []));
  const best = rows.filter(({ name }) => isAlone(name)).reduce<typeof rows[number] | undefined>(
    (a, b) => (a && a.right.mean >= b.right.mean ? a : b), undefined,
  );
  return rows.map((row) => ({
    ...row,
    ...(best && best.name !== row.name && { versusBest: difference(tables.get(row.name) ?? [], tables.get(best.name) ?? []) }),
    isOnFrontier: !rows.some((other) =>
      (other.right.mean > row.right.mean && other.costUsd <= row.costUsd) || (other.right.mean >= row.right.mean && other.costUsd < row.costUsd)),
  }));
}

/** The number of tasks that the rows compare. */
export function comparedTasks(samples: readonly Sample[]): number {
  const names = [...new Set(samples.map(({ contestant }) => contestant))];
  return new Set(comparable(samples, names).map(({ task }) => task)).size;
}

/** A row for each seed, a column for each task. */
type Table = readonly (readonly number[])[];

/** The samples of seeds that were begun by all, and in them of tasks that all contestants have answered for each of these seeds. */
function comparable(samples: readonly Sample[], names: readonly string[]): Sample[] {
  const has = new Set(samples.map(({ contestant, task, seed }) => JSON.stringify([contestant, task, seed])));
  const tasks = [...new Set(samples.map(({ task }) => task))];
  const isWhole = (task: string, seed: number): boolean => names.every((name) => has.has(JSON.stringify([name, task, seed])));
  const seeds = [...new Set(samples.map(({ seed }) => seed))].filter((seed) => seed === 0 || tasks.every((task) => isWhole(task, seed)));
  const whole = new Set(tasks.filter((task) => seeds.every((seed) => isWhole(task, seed))));
  return samples.filter(({ task, seed }) => seeds.includes(seed) && whole.has(task));
}

function tableOf(samples: readonly Sample[]): Table {
  const seeds = [...new Set(samples.map(({ seed }) => seed))].sort((a, b) => a - b);
  const tasks = [...new Set(samples.map(({ task }) => task))].sort();
  const found = new Map(samples.map((sample) => [JSON.stringify([sample.seed, sample.task]), Number(sample.verified)]));
  return seeds.map((seed) => tasks.map((task) => found.get(JSON.stringify([seed, task])) ?? 0));
}

function rowOf(name: string, samples: readonly Sample[], table: Table): Omit<ResultRow, 'versusBest' | 'isOnFrontier'> {
  const plans = samples.flatMap(({ isPlan }) => (isPlan === undefined ? [] : [Number(isPlan)]));
  const total = samples.reduce((sum, { usage }) => addUsage(sum, usage), NO_USAGE);
  const each = (tokens: number): number => tokens / Math.max(1, samples.length);
  return {
    name,
    right: estimate(table),
    costUsd: mean(samples.map(({ costUsd }) => costUsd)),
    usage: {
      uncachedInput: each(total.uncachedInput), cacheRead: each(total.cacheRead), cacheWrite: each(total.cacheWrite),
      output: each(total.output), reasoning: each(total.reasoning), estimated: total.estimated,
    },
    seconds: mean(samples.map(({ seconds }) => seconds)),
    ...(plans.length > 0 && { formatRate: mean(plans) }),
  };
}

function difference(table: Table, best: Table): NonNullable<ResultRow['versusBest']> {
  const differences = table.map((row, seed) => row.map((value, task) => value - (best[seed]?.[task] ?? 0)));
  const byTask = (differences[0] ?? []).map((_, task) => mean(differences.map((row) => row[task] ?? 0)));
  return { difference: estimate(differences), pValue: signFlipTest(byTask, 1) };
}

/** A Markdown table of the results. */
export function resultsTable(rows: readonly ResultRow[]): string {
  const hasPlans = rows.some(({ formatRate }) => formatRate !== undefined);
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const heads = ['contestant', 'right', '95 % interval', 'against the best alone', 'p', '$ per 1,000 tasks', 'tokens a task', 'seconds', 'frontier', ...(hasPlans ? ['valid plans'] : [])];
  return [
    line(heads),
    line(heads.map((_, column) => (column === 0 ? '---' : '---:'))),
    ...rows.map(({ name, right, versusBest, costUsd, usage, seconds, isOnFrontier, formatRate }) => line([
      name.replaceAll('|', '\\|'), percent(right.mean), `${percent(right.low)} to ${percent(right.high)}`,
      versusBest ? `${versusBest.difference.mean >= 0 ? '+' : '−'}${percent(Math.abs(versusBest.difference.mean))}` : '',
      versusBest ? versusBest.pValue.toFixed(3) : '',
      (1_000 * costUsd).toFixed(2), Math.round(totalTokens(usage)).toString(), seconds.toFixed(1), isOnFrontier ? '●' : '',
      ...(hasPlans ? [formatRate === undefined ? '' : percent(formatRate)] : []),
    ])),
  ].join('\n');
}
