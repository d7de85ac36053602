import type { ShapeStep } from '../../../backend/conductor/plan/shape.ts';
import { STEP_ROLES } from '../../../backend/protocol/step-role.ts';
import { draw } from '../../../backend/train/statistics/draws.ts';
import type { Sampled } from './conductor-learners.ts';
import { alone, planOf } from './learner.ts';
import { cellOf, type LearnTask } from './learn-tasks.ts';
import type { HiddenPool } from './pools.ts';
import type { World } from './world.ts';

type Steps = readonly ShapeStep[];

/** Trials of each plan, and how many plans are left after them. */
const HEATS = [{ trials: 16, keep: 10 }, { trials: 80, keep: 3 }, { trials: 240, keep: 1 }] as const;
/** A plan that is this much better at most is not worth a dearer one. */
const EQUAL = 0.01;

/** Roles and who reads whom, without workers. */
const shapeKey = (steps: Steps): string => steps.map(({ role, reads }) => `${role}[${reads.join()}]`).join(' ');

export interface Possible {
  readonly plan: Steps;
  readonly alone: Steps;
}

/** For each kind of task: the best plan of the shapes that conductor-mini samples, and the best worker alone, for somebody who knows the hidden skills. */
export async function possiblePlans(hidden: HiddenPool, world: World, tasks: readonly LearnTask[], sampled: Sampled, paid: number): Promise<ReadonlyMap<string, Possible>> {
  const cells = Map.groupBy(tasks, cellOf);
  const found = new Map<string, Possible>();
  for (const [cell, own] of cells) {
    const [first] = own as [LearnTask];
    const skills = hidden.workers.map(({ skill }) => skill(first, paid));
    const order = (role: number, count: number): number[] => skills.map((_, worker) => worker).sort((a, b) => (skills[b]?.[role] ?? 0) - (skills[a]?.[role] ?? 0)).slice(0, count);
    const shapes = [...new Map(own.flatMap((task) => sampled(task)).map((steps) => [shapeKey(steps), steps])).values()];
    const plans = shapes.flatMap((steps) => order(0, 1).flatMap((planner) => order(1, 2).flatMap((writer) => order(2, 2).map((checker) =>
      steps.map((step) => ({ ...step, worker: [planner, writer, checker][STEP_ROLES.indexOf(step.role)] ?? 0 }))))));
    const distinct = [...new Map([...plans, ...order(1, 3).map(alone)].map((steps) => [JSON.stringify(steps), steps])).values()];
    const best = async (field: readonly Steps[]): Promise<Steps> => {
      let left = field.map((steps) => ({ steps, verified: 0, usd: 0, trials: 0 }));
      for (const { trials, keep } of HEATS) {
        for (const entry of left) {
          for (; entry.trials < trials; entry.trials += 1) {
            const task = own[entry.trials % own.length] as LearnTask;
            const { verified, costUsd } = await world.play(task, planOf(entry.steps, task), { paid, luck: draw(7_001, 'possible', cell, entry.trials) });
            entry.verified += Number(verified);
            entry.usd += costUsd;
          }
        }
        left = left.sort((a, b) => b.verified - a.verified || a.usd - b.usd).slice(0, Math.max(keep, 3));
      }
      const most = Math.max(...left.map(({ verified, trials }) => verified / trials));
      return left.filter(({ verified, trials }) => verified / trials >= most - EQUAL).reduce((a, b) => (b.usd < a.usd ? b : a)).steps;
    };
    found.set(cell, { plan: await best(distinct), alone: await best(order(1, 3).map(alone)) });
  }
  return found;
}
