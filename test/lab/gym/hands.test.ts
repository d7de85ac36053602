import { describe, expect, it } from 'vitest';
import { PROMPT_PROFILES, type PromptProfile } from '../../../backend/conductor/prompt-profile.ts';
import { compare } from '../../../backend/eval/compare.ts';
import { BASELINES } from '../../../backend/eval/contestant.ts';
import { alone, writeAndChecks } from '../../../backend/eval/plans.ts';
import { runPlanOnWire } from '../../../backend/eval/run-plan-on-wire.ts';
import type { PlanOutcome } from '../../../backend/eval/run-plan.ts';
import { GymArena } from '../../../backend/lab/gym/gym-arena.ts';
import { gymContestants } from '../../../backend/lab/gym/gym-contestants.ts';
import { knownGrader } from '../../../backend/lab/gym/gym-grades.ts';
import { GYM_PARAMETERS } from '../../../backend/lab/gym/gym-parameters.ts';
import { toldOf, TRAINING_POOL, TRAINING_ROSTER, TRAINING_ROSTER_WITH_HANDS, unseenPool, unseenPoolWithHands } from '../../../backend/lab/gym/gym-pools.ts';
import { generatorsOf, GymBook, gymTasks, type GymTask } from '../../../backend/lab/gym/gym-tasks.ts';
import { gymRule } from '../../../backend/lab/gym/gym-worker.ts';
import { tokensOfLoop } from '../../../backend/lab/gym/hands-tokens.ts';
import { runPlanInProcess } from '../../../backend/lab/gym/run-plan-in-process.ts';
import { NEW_WANTS, type Want } from '../../../backend/lab/gym/wants/want.ts';
import { wantPlans } from '../../../backend/lab/gym/wants/want-plans.ts';
import { wantTasks } from '../../../backend/lab/gym/wants/want-tasks.ts';
import { isProcessAlive } from '../../../backend/protocol/client/process-alive.ts';
import { KINDS } from '../../../backend/simulator/families/family.ts';
import type { SimulatedWorker } from '../../../backend/simulator/pool.ts';
import { RolloutGatherer } from '../../../backend/train/rollouts/rollout-gatherer.ts';
import { mean } from '../../../backend/train/statistics/statistics.ts';
import { poolOf } from '../../eval/pool.ts';

const { signal } = new AbortController();
const tasks = [...gymTasks({ seed: 21, split: 'train', count: 90 }), ...wantTasks({ seed: 21, split: 'train', count: 90 })];
const rule = gymRule(new GymBook(tasks));
const judged = (task: GymTask) => ({ ...task, context: '' as const, grader: knownGrader(task) });
const withHands = (pool: readonly SimulatedWorker[]): SimulatedWorker[] => pool.map((worker) => ({ ...worker, hasHands: true }));

/** Every worker of the fixed pool on its own, three times each task of a want. */
async function outcomes(workers: readonly SimulatedWorker[], want: Want): Promise<PlanOutcome[]> {
  const own = tasks.filter((task) => task.want === want);
  return await Promise.all([1, 2, 3].flatMap((seed) => own.flatMap((task) => workers.map((_, writer) =>
    runPlanInProcess({ seed, workers, rule })(judged(task), wantPlans(want, { planner: 0, writer, checker: 0 }).alone, { pool: poolOf(workers), sample: 0, signal })))));
}
const right = (all: readonly Pick<PlanOutcome, 'verified'>[]): number => mean(all.map(({ verified }) => Number(verified)));
const cost = (all: readonly Pick<PlanOutcome, 'costUsd'>[]): number => mean(all.map(({ costUsd }) => costUsd));

describe('a worker of the gym with hands', () => {
  it('gains on functions what published loops gain by running them: 5 to 17 points', async () => {
    const [without, handed] = [await outcomes(TRAINING_POOL, 'code'), await outcomes(withHands(TRAINING_POOL), 'code')];
    expect(right(handed) - right(without)).toBeGreaterThan(0.05);
    expect(right(handed) - right(without)).toBeLessThan(0.171);
  });

  it.each(['fix', 'feature', 'refactor'] as const)('gains where tests decide: %s', async (want) => {
    expect(right(await outcomes(withHands(TRAINING_POOL), want))).toBeGreaterThan(right(await outcomes(TRAINING_POOL, want)) + 0.04);
  });

  it.each(['explain', 'talk'] as const)('gains nothing where words decide, and costs more all the same: %s', async (want) => {
    const [without, handed] = [await outcomes(TRAINING_POOL, want), await outcomes(withHands(TRAINING_POOL), want)];
    expect(handed.map(({ answer }) => answer)).toEqual(without.map(({ answer }) => answer));
    expect(cost(handed)).toBeGreaterThan(2 * cost(without));
  });

  it.each(['code', ...NEW_WANTS] as const)('costs two to ten times as much: %s', async (want) => {
    const times = cost(await outcomes(withHands(TRAINING_POOL), want)) / cost(await outcomes(TRAINING_POOL, want));
    expect(times).toBeGreaterThan(2);
    expect(times).toBeLessThan(10);
  });

  it('misses again what it missed once: asking it to check its own work again and again does not pay as another worker does', async () => {
    const workers = withHands(TRAINING_POOL);
    const code = tasks.filter(({ want }) => want === 'code');
    const share = async (checkers: readonly number[]): Promise<number> => right(await Promise.all([1, 2, 3].flatMap((seed) => code.map((task) =>
      runPlanInProcess({ seed, workers, rule })(judged(task), writeAndChecks(1, checkers), { pool: poolOf(workers), sample: 0, signal })))));
    expect(await share([1, 1, 1, 1])).toBeLessThan(await share([2]) - 0.05);
  });

  it('gives equal answers and equal costs to equal calls, in process and over the wire', async () => {
    const workers = unseenPoolWithHands(1);
    const some = tasks.filter((_, index) => index % 9 === 0);
    const arena = await GymArena.open({ one: { workers, luck: 4 } }, some, isProcessAlive);
    try {
      const [pool, onWire, inProcess] = [arena.pool('one'), runPlanOnWire(arena.caller), runPlanInProcess({ seed: 4, workers, rule: gymRule(new GymBook(some)) })];
      expect(pool.map(({ hands }) => hands === 'tools')).toEqual(workers.map(({ hasHands }) => hasHands));
      for (const task of some) {
        for (const writer of [0, 1, 2, 3, 4]) {
          const [here, there] = await Promise.all([inProcess, onWire].map((run) => run(judged(task), alone(writer), { pool, sample: 0, signal })));
          expect(there?.answer).toBe(here?.answer);
          expect(there?.costUsd).toBeCloseTo(here?.costUsd ?? 0, 9);
        }
      }
    } finally {
      await arena.close();
    }
  });

  it('pays for all that it reads, in every turn', () => {
    const numbers = { tokens: { told: 100, call: 10, result: 20 } };
    const asked = [{ role: 'user', content: 'x'.repeat(200) }] as const;
    // A look (10 + 20), a draft of 25 tokens (35 + 20) and a last message of 10, read by 150, 180 and 235 tokens.
    expect(tokensOfLoop({ asked, looks: 1, drafts: ['y'.repeat(100)], text: 'z'.repeat(400) }, numbers)).toEqual({ input: 150 + 180 + 235, output: 10 + 35 + 10 });
    // Words are written once, in the last message.
    expect(tokensOfLoop({ asked, looks: 0, drafts: [], text: 'z'.repeat(400) }, numbers)).toEqual({ input: 150, output: 100 });
  });
});

describe('pools with hands', () => {
  it('have two workers of five with hands, of every character in the roster', () => {
    for (const seed of [1, 2, 3, 4, 5]) expect(unseenPoolWithHands(seed).filter(({ hasHands }) => hasHands)).toHaveLength(2);
    const handed = TRAINING_ROSTER_WITH_HANDS.flatMap(({ hasHands }, index) => (hasHands ? [Math.min(index % 5, 3)] : []));
    expect(handed).toHaveLength(6);
    // Places 3 and 4 are specialists.
    expect(new Set(handed)).toEqual(new Set([0, 1, 2, 3]));
  });

  it('share no worker with others, whose workers have none', () => {
    const others = [...TRAINING_POOL, ...TRAINING_ROSTER, ...unseenPool(1)];
    expect(others.filter(({ hasHands }) => hasHands)).toEqual([]);
    const names = [...others, ...TRAINING_ROSTER_WITH_HANDS, ...unseenPoolWithHands(1)].map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  it('leave much to plan: the oracle is far from asking the same worker again, and from everybody alone, at a fraction of the cost', async () => {
    const workers = unseenPoolWithHands(501);
    const pool = poolOf(workers);
    // The search for the oracle's plans is made for every generator: one of each kind of question will do.
    const generators = new Set(generatorsOf('train').slice(0, KINDS.length).map(({ name }) => name));
    const code = gymTasks({ seed: 21, split: 'train', count: 240 }).filter(({ generator }) => generators.has(generator));
    const search = [{ trials: 10, keep: 20 }, { trials: 30, keep: 5 }, { trials: 80, keep: 3 }];
    const { contestants, best } = await gymContestants({ workers, pool, tasks: code, signal, search, practice: 60 });
    const run = runPlanInProcess({ seed: 1, workers, rule: gymRule(new GymBook(code)) });
    const results = await compare({ contestants: contestants.filter(({ name }) => !name.includes(',')), tasks: code.map(judged), pool, seeds: [1], runFor: () => run, concurrency: 1, signal });
    const of = (name: string) => results.find((result) => result.name === name)?.outcomes.flat() ?? [];
    expect(right(of(BASELINES.oracle))).toBeLessThan(0.97);
    for (const name of [BASELINES.reflection, BASELINES.majority, BASELINES.mixture]) {
      expect(right(of(name)), name).toBeLessThan(right(of(BASELINES.oracle)) - 0.1);
      expect(cost(of(name)), name).toBeGreaterThan(cost(of(BASELINES.oracle)));
    }
    expect(workers[best]?.hasHands).toBe(true);
    expect(right(of(`${workers[best]?.name} alone`))).toBeLessThan(right(of(BASELINES.oracle)) - 0.1);
  }, 120_000);
});

describe('who has hands', () => {
  const workers = unseenPoolWithHands(3);
  const pool = poolOf(workers).map((worker, ordinal) => ({ ...worker, ...(workers[ordinal]?.hasHands && { hands: 'tools' as const }) }));
  const handed = workers.flatMap(({ hasHands }, ordinal) => (hasHands ? [`hands${ordinal}`] : []));
  const promptOf = (profile: PromptProfile, handsWithoutProject?: boolean): string => {
    const rollouts = { run: () => Promise.reject(new Error('Nothing runs here.')), pastRounds: () => [] };
    const task = { ...judged(tasks[0] as GymTask) };
    return new RolloutGatherer({ rollouts, pool, profile, seed: 1, handsWithoutProject }).prompt(task, { step: 0, place: 0 }).messages.map(({ content }) => content).join('\n');
  };

  it('is told in the trainings of the gym to a model that learns it, and to no other', () => {
    for (const word of handed) {
      expect(promptOf(PROMPT_PROFILES['mini-hands'], true)).toContain(word);
      expect(promptOf(PROMPT_PROFILES.mini, true)).not.toContain(word);
      // A question without a project: elsewhere nobody has hands for it.
      expect(promptOf(PROMPT_PROFILES['mini-hands'])).not.toContain(word);
    }
    expect(promptOf(PROMPT_PROFILES['mini-hands'])).toBe(promptOf(PROMPT_PROFILES.mini));
  });

  it('is told to Conductors that are measured', () => {
    expect(toldOf(pool).map(({ hasHands = false }) => hasHands)).toEqual(workers.map(({ hasHands }) => hasHands));
  });

  it('is all that the parameters of hands change', async () => {
    const other = { ...GYM_PARAMETERS, hands: { ...GYM_PARAMETERS.hands, noticing: { ease: 9, subtlety: 0, skill: 0 }, mends: 9 } };
    const code = tasks.filter(({ want }) => want === 'code').slice(0, 20);
    const answers = async (parameters: typeof GYM_PARAMETERS, of: readonly SimulatedWorker[]): Promise<string[]> => await Promise.all(code.map(async (task) =>
      (await runPlanInProcess({ seed: 1, workers: of, rule: gymRule(new GymBook(code), { parameters }) })(judged(task), alone(1), { pool: poolOf(of), sample: 0, signal })).answer));
    expect(await answers(other, TRAINING_POOL)).toEqual(await answers(GYM_PARAMETERS, TRAINING_POOL));
    expect(await answers(other, withHands(TRAINING_POOL))).not.toEqual(await answers(GYM_PARAMETERS, withHands(TRAINING_POOL)));
  });
});
