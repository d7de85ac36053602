import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import { estimate, mean } from '../../train/statistics/statistics.ts';
import type { ContestantResult } from '../../eval/compare.ts';
import { isAlone } from '../../eval/contestants.ts';
import { BEST_ALONE, percent, type Standing } from '../../eval/standings.ts';
import { planEntrySchema } from './plan-diary.ts';

export const CONDUCTOR = { before: 'Conductor before training', after: 'Conductor' } as const;

const contestantSchema = z.object({
  name: z.string(),
  /** 1 for each held-out task that was answered right, 0 for each other. */
  right: z.array(z.union([z.literal(0), z.literal(1)])),
  /** Dollars a task. */
  costUsd: z.number(),
  /** Of a Conductor: the share of its texts that are plans. */
  formatRate: z.number().optional(),
});
export type TriedContestant = z.infer<typeof contestantSchema>;

/** What one training on the gym came to, and what others make of the same tasks with the same luck of the workers. */
export const gymResultSchema = z.object({
  simulation: z.literal(true),
  seed: z.int(),
  options: z.record(z.string(), z.unknown()),
  /** The generator of each held-out task. */
  heldOut: z.array(z.string()),
  /** Of the pool that was trained on, and of one whose workers no training has met. */
  pools: z.object({ fixed: z.array(contestantSchema), unseen: z.array(contestantSchema) }),
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

/** Everybody's share of right answers over all trainings, the best first, with the best worker alone of each. */
export function gymStandings(results: readonly GymResult[], pool: keyof GymResult['pools']): Standing[] {
  const rows = new Map<string, TriedContestant[]>();
  const note = (name: string, tried: TriedContestant): void => void rows.set(name, [...(rows.get(name) ?? []), tried]);
  for (const { pools } of results) {
    for (const tried of pools[pool]) note(tried.name, tried);
    const alone = pools[pool].filter(({ name }) => isAlone(name));
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

/** What a Conductor reached that was trained for one pool, for drawn ones or for both; a Markdown table. */
export function poolsTable(results: readonly GymResult[]): string {
  const reached = ({ pools }: GymResult, on: keyof GymResult['pools']): string => {
    const tried = pools[on].find(({ name }) => name === CONDUCTOR.after);
    return tried ? `${percent(mean(tried.right))} | ${percent(tried.formatRate ?? 0)}` : ' | ';
  };
  return [
    '| trained for | seed | right, fixed pool | texts that are plans | right, unseen pool | texts that are plans |',
    '| --- | ---: | ---: | ---: | ---: | ---: |',
    ...results.map((result) => `| ${String(result.options['pools'])} | ${result.seed} | ${reached(result, 'fixed')} | ${reached(result, 'unseen')} |`),
    '',
  ].join('\n');
}
