import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import { estimate, mean } from '../../train/statistics/statistics.ts';
import type { ContestantResult } from '../../eval/compare.ts';
import { isAlone } from '../../eval/contestant.ts';
import { BEST_ALONE, percent, type Standing } from '../../eval/standings.ts';
import { planEntrySchema } from './plan-diary.ts';

export const CONDUCTOR = { before: 'Conductor before training', after: 'Conductor' } as const;

const contestantSchema = z.object({
  name: z.string(),
  /** For each held-out task, 1 if answered correctly, else 0. */
  right: z.array(z.union([z.literal(0), z.literal(1)])),
  /** Dollars for each task. */
  costUsd: z.number(),
  /** For a Conductor: the share of its texts that are valid plans. */
  formatRate: z.number().optional(),
});
export type TriedContestant = z.infer<typeof contestantSchema>;

/** The result of one training on the gym, and of other contestants on the same tasks with the same seeds. */
export const gymResultSchema = z.object({
  simulation: z.literal(true),
  seed: z.int(),
  options: z.record(z.string(), z.unknown()),
  /** The generator of each held-out task. */
  heldOut: z.array(z.string()),
  /** Results for the training pool, for a pool of unseen workers, and for one of which some have hands. */
  pools: z.object({ fixed: z.array(contestantSchema), unseen: z.array(contestantSchema), hands: z.array(contestantSchema).optional() }),
  /** Of each step. */
  metrics: z.array(z.record(z.string(), z.number())),
  plans: z.array(planEntrySchema),
});
export type GymResult = z.infer<typeof gymResultSchema>;

export async function readGymResult(file: string): Promise<GymResult> {
  return gymResultSchema.parse(JSON.parse(await readFile(file, 'utf8')));
}

export function triedContestant({ name, outcomes }: ContestantResult, formatRate?: number): TriedContestant {
  const all = outcomes.flat();
  return {
    name, right: all.map(({ verified }) => (verified ? 1 : 0)), costUsd: mean(all.map(({ costUsd }) => costUsd)),
    ...(formatRate !== undefined && { formatRate }),
  };
}

/** Each contestant's share of correct answers over all trainings, best first, including the best single worker. */
export function gymStandings(results: readonly GymResult[], pool: keyof GymResult['pools']): Standing[] {
  const rows = new Map<string, TriedContestant[]>();
  const note = (name: string, tried: TriedContestant): void => void rows.set(name, [...(rows.get(name) ?? []), tried]);
  for (const { pools } of results) {
    const tried = pools[pool] ?? [];
    for (const one of tried) note(one.name, one);
    const alone = tried.filter(({ name }) => isAlone(name));
    if (alone.length > 0) note(BEST_ALONE, alone.reduce((best, other) => (mean(other.right) > mean(best.right) ? other : best)));
  }
  const standings = [...rows].map(([name, tried]): Standing => ({
    name,
    right: estimate(tried.map(({ right }) => right)),
    costUsd: mean(tried.map(({ costUsd }) => costUsd)),
    ...(tried[0]?.formatRate !== undefined && { formatRate: mean(tried.map(({ formatRate }) => formatRate ?? 0)) }),
  }));
  return standings.sort((a, b) => b.right.mean - a.right.mean);
}

/** A Markdown table of Conductors trained for the fixed pool, for random pools, or for both. */
export function poolsTable(results: readonly GymResult[]): string {
  const reached = ({ pools }: GymResult, on: keyof GymResult['pools']): string => {
    const tried = pools[on]?.find(({ name }) => name === CONDUCTOR.after);
    return tried ? `${percent(mean(tried.right))} | ${percent(tried.formatRate ?? 0)}` : ' | ';
  };
  return [
    '| trained for | seed | right, fixed pool | texts that are plans | right, unseen pool | texts that are plans |',
    '| --- | ---: | ---: | ---: | ---: | ---: |',
    ...results.map((result) => `| ${String(result.options['pools'])} | ${result.seed} | ${reached(result, 'fixed')} | ${reached(result, 'unseen')} |`),
    '',
  ].join('\n');
}
