import { parsePlan } from '../../conductor/parse-plan.ts';
import type { WorkerConfig } from '../../protocol/worker-config.ts';
import type { Gatherer, GroupPlace } from '../grpo/gatherer.ts';
import type { Task } from '../tasks/task.ts';
import { planMetrics, type PlannedGroup } from './plan-metrics.ts';

/** A gatherer that also tells, in the metrics of each step, what its plans do. */
export function tellingPlans(gatherer: Required<Omit<Gatherer<Task>, 'metrics' | 'sampled'>> & { poolOf(at: GroupPlace): readonly WorkerConfig[] }): Gatherer<Task> {
  const groups = new Map<number, { readonly place: number; readonly group: PlannedGroup }[]>();
  return {
    prompt: (task, at) => gatherer.prompt(task, at),
    revisionPrompt: (task, at, sample) => gatherer.revisionPrompt(task, at, sample),
    sampled: (task, plans, at) => {
      const pool = gatherer.poolOf(at);
      const parsed = plans.map(({ completion: { text, finishReason }, revises }) =>
        parsePlan(text, { workerCount: pool.length, round: revises ? 1 : 0, truncated: finishReason === 'length' }));
      const group: PlannedGroup = { kind: task.kind ?? '', plans: parsed.flatMap((one) => (one.kind === 'plan' ? [{ plan: one.plan, pool }] : [])) };
      groups.set(at.step, [...(groups.get(at.step) ?? []), { place: at.place, group }]);
    },
    outcomes: (task, plans, at, signal) => gatherer.outcomes(task, plans, at, signal),
    metrics: (step) => {
      // In the order of their places: sums of the same numbers in another order may differ in the last digit.
      const told = (groups.get(step) ?? []).sort((a, b) => a.place - b.place).map(({ group }) => group);
      groups.clear();
      return planMetrics(told);
    },
  };
}
