import { knownGrader } from './gym-grades.ts';
import type { GymTask } from './gym-tasks.ts';
import type { SimulatedWorker } from '../../simulator/pool.ts';
import type { Role } from '../../simulator/roles.ts';
import type { Kind } from '../../simulator/families/family.ts';
import type { WorkerConfig } from '../../protocol/worker-config.ts';
import type { Plan } from '../../workflow/plan.ts';
import { alone, attemptsAndJudge, planAttemptsAndJudge, planWrite, planWriteCheck, planWriteCheckAll,
  writeAndChecks } from '../../eval/plans.ts';
import type { RunPlan } from '../../eval/run-plan.ts';
import { mean } from '../../train/statistics/statistics.ts';

export interface OracleOptions {
  /** By ordinal; the oracle knows their hidden skills. */
  readonly workers: readonly SimulatedWorker[];
  /** The same workers as a pool. */
  readonly pool: readonly WorkerConfig[];
  /** Workers with those skills and, in every trial, a new seed that the evaluation does not use. */
  readonly runFor: (trial: number) => RunPlan;
  readonly heats: readonly Heat[];
  readonly signal: AbortSignal;
}

/** Trials of each remaining plan, and the number of best plans kept for the next round or the final choice. */
export interface Heat {
  readonly trials: number;
  readonly keep: number;
}

export const SEARCH_DEFAULTS: readonly Heat[] = [{ trials: 60, keep: 30 }, { trials: 200, keep: 6 }, { trials: 600, keep: 6 }];

export interface FoundPlan {
  readonly plan: Plan;
  /** Share of correct trials. */
  readonly chance: number;
  readonly costUsd: number;
}

/** Plans within this margin of the highest score count as equal. The cheapest of them wins. */
const EQUAL = 0.02;

/**
 * The best plan for tasks of this kind, an upper bound for planning. It is found by repeated trials of plans of one to five steps. The tasks
 * must differ from those of the evaluation.
 */
export async function bestPlan(tasks: readonly GymTask[], options: OracleOptions): Promise<FoundPlan> {
  const { workers, pool, runFor, heats, signal } = options;
  const kind = tasks[0]?.kind;
  if (!kind) throw new RangeError('The oracle needs a task to try plans on.');
  let field = candidates(workers, kind).map((plan) => ({ plan, scores: [] as number[], costs: [] as number[] }));
  for (const { trials, keep } of heats) {
    for (const entry of field) {
      while (entry.scores.length < trials) {
        const trial = entry.scores.length;
        const task = tasks[trial % tasks.length] as GymTask;
        const judged = { ...task, context: '', grader: knownGrader(task) };
        const { score, costUsd } = await runFor(trial)(judged, entry.plan, { pool, sample: 0, signal });
        entry.scores.push(score);
        entry.costs.push(costUsd);
      }
    }
    field = field.sort((a, b) => mean(b.scores) - mean(a.scores)).slice(0, keep);
  }
  const found = field.map(({ plan, scores, costs }) => ({ plan, chance: mean(scores), costUsd: mean(costs) }));
  const highest = Math.max(...found.map(({ chance }) => chance));
  return found.filter(({ chance }) => chance >= highest - EQUAL).reduce((a, b) => (b.costUsd < a.costUsd ? b : a));
}

/** Plans of all shapes with the best workers for each role. */
export function candidates(workers: readonly SimulatedWorker[], kind: Kind): Plan[] {
  const best = (role: Role, count: number): number[] =>
    workers.map((_, worker) => worker)
      .sort((a, b) => (workers[b]?.skills[kind][role] ?? 0) - (workers[a]?.skills[kind][role] ?? 0))
      .slice(0, count);
  const withHands = (role: Role): number[] => best(role, workers.length).filter((worker) => workers[worker]?.hasHands).slice(0, 1);
  const both = (role: Role, count: number): number[] => [...new Set([...best(role, count), ...withHands(role)])];
  const [planners, writers, checkers] = [best('plan', 2), both('write', 3), both('check', 2)];
  const groups = (size: number): number[][] => (size === 0 ? [[]] : groups(size - 1).flatMap((group) =>
    writers.filter((_, place) => place >= Math.max(0, ...group.map((worker) => writers.indexOf(worker)))).map((writer) =>
      [...group, writer])));
  return [
    ...writers.map((writer) => alone(writer)),
    ...planners.flatMap((planner) => writers.map((writer) => planWrite(planner, writer))),
    ...writers.flatMap((writer) => checkers.flatMap((one) => [[one],
      ...checkers.map((other) => [one, other])].map((few) => writeAndChecks(writer, few)))),
    ...checkers.flatMap((checker) => [
      ...planners.flatMap((planner) => [
        ...writers.flatMap((writer) => [planWriteCheck(planner, writer, checker), planWriteCheckAll(planner, writer, checker)]),
        ...[2, 3].flatMap((size) => groups(size).map((group) => planAttemptsAndJudge(planner, group, checker))),
      ]),
      ...[2, 3, 4].flatMap((size) => groups(size).map((group) => attemptsAndJudge(group, checker))),
    ]),
  ];
}
