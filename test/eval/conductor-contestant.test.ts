import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MINI_PLANNER } from '../../backend/conductor/mini-planner.ts';
import { changedPlans, conductorContestant } from '../../backend/eval/conductor-contestant.ts';
import { UNANSWERED, type PlanOutcome } from '../../backend/eval/run-plan.ts';
import { LocalModel } from '../../backend/lm/local-model.ts';
import { knownGrader } from '../../backend/lab/gym/gym-grades.ts';
import { TRAINING_POOL } from '../../backend/lab/gym/gym-pools.ts';
import { gymTasks } from '../../backend/lab/gym/gym-tasks.ts';
import { LocalAdapter } from '../../backend/workers/adapters/local-adapter.ts';
import type { Plan } from '../../backend/workflow/plan.ts';
import { poolOf } from './pool.ts';
import { SHORT_MODEL } from '../lab/gym/short-training.ts';

const pool = poolOf(TRAINING_POOL);
const tasks = gymTasks({ seed: 5, split: 'held-out', count: 12 }).map((task) => ({ ...task, context: '', grader: knownGrader(task) }));
const DONE: PlanOutcome = { ...UNANSWERED, verified: true, score: 1, costUsd: 0.01, answer: 'done' };

let storage: string;
let model: LocalModel;
beforeAll(async () => {
  storage = await mkdtemp(path.join(tmpdir(), 'conductor-contestant-'));
  const settings = { folder: SHORT_MODEL, device: 'cpu', precision: 'full', adapters: false, storage } as const;
  model = await LocalModel.open({ settings, device: 'cpu', deviceReasons: [], threads: 1 });
});
afterAll(async () => {
  await model.close();
  await rm(storage, { recursive: true, force: true });
});

/** What a Conductor whose texts may be so long writes for the tasks, and what became of each plan. */
async function write(options: { readonly constrained: boolean; readonly maxTokens: number; readonly temperature?: number }, seed = 1) {
  const plans = new Map<string, Plan | undefined>();
  const contestant = conductorContestant({
    name: 'Conductor', planner: MINI_PLANNER, model: new LocalAdapter(MINI_PLANNER, model), pool, signal: new AbortController().signal, ...options,
    onPlan: ({ id }, plan) => void plans.set(id, plan),
  });
  const played: Plan[] = [];
  const outcomes = await Promise.all(tasks.map((task) =>
    contestant.answer(task, (plan) => { played.push(plan); return Promise.resolve(DONE); }, seed)));
  return { plans, played, outcomes };
}

describe('a Conductor among contestants', () => {
  it('answers nothing where it writes no plan, which nobody is asked to run', async () => {
    const { plans, played, outcomes } = await write({ constrained: false, maxTokens: 8 });
    expect([...plans.values()]).toEqual(tasks.map(() => undefined));
    expect(played).toEqual([]);
    expect(outcomes.every((outcome) => outcome === UNANSWERED)).toBe(true);
  });

  it('writes nothing but plans where it is constrained', async () => {
    const { plans, played } = await write({ constrained: true, maxTokens: 256 });
    expect(played).toHaveLength(tasks.length);
    expect([...plans.values()]).not.toContain(undefined);
  });

  it('writes the plans that it finds most likely at temperature 0, whatever the seed', async () => {
    const likeliest = { constrained: true, maxTokens: 256, temperature: 0 };
    expect((await write(likeliest, 1)).plans).toEqual((await write(likeliest, 2)).plans);
  });
});

describe('plans with something changed', () => {
  it('are those that were written, and no answer where none was', async () => {
    const [first, second] = tasks as [(typeof tasks)[0], (typeof tasks)[0]];
    const plan: Plan = { modelIds: [0, 1], subtasks: ['Write it.', 'Check it.'], accessList: [[], [0]] };
    const changed = changedPlans('without access', new Map([[first.id, plan]]), (each) => ({ ...each, accessList: [[], []] }));
    const played: Plan[] = [];
    const answer = (task: (typeof tasks)[0]) => changed.answer(task, (each) => { played.push(each); return Promise.resolve(DONE); }, 1);
    expect(await answer(first)).toEqual(DONE);
    expect(await answer(second)).toEqual(UNANSWERED);
    expect(played).toEqual([{ ...plan, accessList: [[], []] }]);
  });
});
