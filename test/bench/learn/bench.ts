/*
 * What is learned from so many paid plans: docs/learn-bench.md. Workers are simulated; the verdicts are the real judge's.
 *
 *   node with-node.mjs node test/bench/learn/bench.ts [--seeds 10] [--pool NAME]… [--only CONTESTANT]… [--training SEEDS] --keep FOLDER [--report FILE]
 *
 * FOLDER keeps what was sampled and measured, so that a run goes on where it was stopped. The report is FILE.md and FILE.svg.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { KeyedRandom } from '../../../backend/common/keyed-random.ts';
import type { ShapeStep } from '../../../backend/conductor/plan/shape.ts';
import type { WorkerConfig } from '../../../backend/protocol/worker-config.ts';
import { randomPlan } from '../../../backend/eval/contestants/random-plans.ts';
import { draw, shuffled } from '../../../backend/train/statistics/draws.ts';
import { AsSampled, ChosenByRecords, type Sampled } from './conductor-learners.ts';
import { type Learner, planOf } from './learner.ts';
import { cellOf, type LearnTask, readOutcomes, splitTasks } from './learn-tasks.ts';
import { POOLS, type HiddenPool } from './pools.ts';
import { possiblePlans } from './possible.ts';
import { type Measured, reportOf } from './report.ts';
import { BestByRecord, ThompsonRouter, UcbRouter } from './routers.ts';
import { sampledPlans } from './sampled-plans.ts';
import { TRAINING_WAYS, trainedPlans, type TrainingWay } from './training.ts';
import { World } from './world.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '10' }, training: { type: 'string', default: '0' }, pool: { type: 'string', multiple: true }, only: { type: 'string', multiple: true },
    keep: { type: 'string' }, budgets: { type: 'string', default: '25,50,100,200,400' }, report: { type: 'string' },
  },
});
if (values.keep === undefined) throw new Error('Name a folder to keep what was sampled and measured: --keep FOLDER.');
const keep = path.resolve(values.keep);
await mkdir(keep, { recursive: true });
const BUDGETS = values.budgets.split(',').map(Number);
/** Plans that are carried out for a held-out task after each budget. */
const TRIALS = 8;

const { tasks } = await readOutcomes();
const { train, heldOut } = splitTasks(tasks);
const pools = POOLS.filter(({ name }) => values.pool?.includes(name) ?? true);
const sampledFor = await sampledPlans(tasks, [...new Set(pools.map(({ workers }) => workers.length))], path.join(keep, 'sampled.json'));

type MakeLearner = (pool: readonly WorkerConfig[], sampled: Sampled) => Learner;
const LEARNERS: Readonly<Record<string, MakeLearner>> = {
  'best worker by record': (pool) => new BestByRecord(pool.length),
  'Thompson router': (pool) => new ThompsonRouter(pool.length),
  'UCB router': (pool) => new UcbRouter(pool.length),
  'conductor-mini': (_, sampled) => new AsSampled(sampled),
  'conductor-mini with records': (pool, sampled) => new ChosenByRecords(pool, sampled),
};
const RANDOM = 'random plans';
const POSSIBLE = 'possible: best plan';
const POSSIBLE_ALONE = 'possible: best worker alone';

const isAsked = (contestant: string): boolean => values.only?.includes(contestant) ?? true;

for (const hidden of pools) {
  const world = new World(hidden, tasks);
  const sampled = sampledFor(hidden.workers.length);
  const measure = async (contestant: string, seed: number, work: () => Promise<Measured['points']>): Promise<void> => {
    if (!isAsked(contestant)) return;
    const file = path.join(keep, `${hidden.name} ${contestant} ${seed}.json`.replaceAll(/[ ,:]+/g, '-'));
    const known = await readFile(file, 'utf8').catch(() => undefined);
    if (known !== undefined) return;
    const started = performance.now();
    const points = await work();
    await writeFile(file, JSON.stringify({ pool: hidden.name, contestant, seed, points } satisfies Measured));
    console.error(`${hidden.name}, ${contestant}, seed ${seed}: ${points.map(({ budget, verified }) => `${budget}: ${(100 * verified).toFixed(0)} %`).join(', ')} (${((performance.now() - started) / 1_000).toFixed(0)} s)`);
  };

  for (let seed = 1; seed <= Number(values.seeds); seed += 1) {
    for (const [name, make] of Object.entries(LEARNERS)) {
      await measure(name, seed, () => learned(world, make(world.pool, sampled), seed));
    }
    await measure(RANDOM, seed, () => atBudgets(world, seed, (_, random) => randomPlan(hidden.workers.length, random)));
  }
  await measure(POSSIBLE, 1, () => possible(hidden, world, sampled, 'plan'));
  await measure(POSSIBLE_ALONE, 1, () => possible(hidden, world, sampled, 'alone'));
  for (let seed = 1; seed <= Number(values.training); seed += 1) {
    for (const [name, way] of Object.entries(TRAINING_WAYS)) await measure(name, seed, () => trained(world, sampled, seed, way));
  }
}

async function learned(world: World, learner: Learner, seed: number): Promise<Measured['points']> {
  const points: Measured['points'][number][] = [];
  let [usd, verified] = [0, 0];
  for (let paid = 0; paid < Math.max(...BUDGETS); paid += 1) {
    const task = shuffled(train, seed, 'order', Math.floor(paid / train.length))[paid % train.length] as LearnTask;
    const steps = learner.next(task, new KeyedRandom('next', seed, paid));
    const outcome = await world.play(task, planOf(steps, task), { paid, luck: draw(seed, 'paid', paid) });
    learner.learn(task, steps, outcome);
    usd += outcome.costUsd;
    verified += Number(outcome.verified);
    if (BUDGETS.includes(paid + 1)) points.push({ ...(await onHeldOut(world, paid + 1, seed, (of, random) => planOf(learner.best(of, random), of))), learningUsd: usd, learningVerified: verified / (paid + 1) });
  }
  return points;
}

async function atBudgets(world: World, seed: number, planFor: (task: LearnTask, random: KeyedRandom, trial: number, budget: number) => ReturnType<typeof planOf>): Promise<Measured['points']> {
  return await Promise.all(BUDGETS.map((budget) => onHeldOut(world, budget, seed, (task, random, trial) => planFor(task, random, trial, budget))));
}

async function onHeldOut(
  world: World, budget: number, seed: number, planFor: (task: LearnTask, random: KeyedRandom, trial: number) => ReturnType<typeof planOf>,
): Promise<Measured['points'][number]> {
  let [verified, usd] = [0, 0];
  for (const task of heldOut) {
    for (let trial = 0; trial < TRIALS; trial += 1) {
      const plan = planFor(task, new KeyedRandom('held out', seed, budget, task.id, trial), trial);
      const outcome = await world.play(task, plan, { paid: budget, luck: draw(seed, 'held out', budget, task.id, trial) });
      verified += Number(outcome.verified);
      usd += outcome.costUsd;
    }
  }
  const count = heldOut.length * TRIALS;
  return { budget, verified: verified / count, usd: usd / count, learningUsd: 0, learningVerified: 0 };
}

async function possible(hidden: HiddenPool, world: World, sampled: Sampled, what: 'plan' | 'alone'): Promise<Measured['points']> {
  const points: Measured['points'][number][] = [];
  let [known, before]: [Awaited<ReturnType<typeof possiblePlans>> | undefined, string] = [undefined, ''];
  for (const budget of BUDGETS) {
    const skills = JSON.stringify(tasks.map((task) => hidden.workers.map(({ skill }) => skill(task, budget))));
    if (skills !== before) known = await possiblePlans(hidden, world, tasks, sampled, budget);
    before = skills;
    const plans = known;
    const seeds = await Promise.all([1, 2, 3, 4, 5].map((seed) => onHeldOut(world, budget, seed, (task) => planOf(plans?.get(cellOf(task))?.[what] ?? [], task))));
    points.push({ budget, verified: seeds.reduce((sum, one) => sum + one.verified / 5, 0), usd: seeds.reduce((sum, one) => sum + one.usd / 5, 0), learningUsd: 0, learningVerified: 0 });
  }
  return points;
}

async function trained(world: World, sampled: Sampled, seed: number, way: TrainingWay): Promise<Measured['points']> {
  const found = await trainedPlans({ world, train, heldOut, budgets: BUDGETS, seed, way });
  return await atBudgets(world, seed, (task, _random, trial, budget) => {
    const plans: readonly (readonly ShapeStep[])[] = found.get(budget)?.get(task.id) ?? sampled(task);
    return planOf(plans[trial % plans.length] ?? [], task);
  });
}

if (values.report !== undefined) await reportOf(keep, path.resolve(values.report), { pools, contestants: [RANDOM, ...Object.keys(LEARNERS).slice(0, 4), ...Object.keys(TRAINING_WAYS), ...Object.keys(LEARNERS).slice(4), POSSIBLE_ALONE, POSSIBLE] });
