import { parseArgs } from 'node:util';
import { KeyedRandom } from '../../common/keyed-random.ts';
import { compare, type ContestantResult } from '../../eval/compare.ts';
import { conductorContestant } from '../../eval/conductor-contestant.ts';
import { BASELINES, type Contestant } from '../../eval/contestant.ts';
import { plansInTurn } from '../../eval/contestants/plans-in-turn.ts';
import { randomPlan } from '../../eval/contestants/random-plans.ts';
import { alone } from '../../eval/plans.ts';
import { UNANSWERED } from '../../eval/run-plan.ts';
import { percent, standingOf } from '../../eval/standings.ts';
import type { LocalModel } from '../../lm/local-model.ts';
import type { SimulatedWorker } from '../../simulator/pool.ts';
import { mean } from '../../train/statistics/statistics.ts';
import { LocalAdapter } from '../../workers/adapters/local-adapter.ts';
import type { Plan } from '../../workflow/plan.ts';
import { gymContestants, type GymEvalTask } from '../gym/gym-contestants.ts';
import { knownGrader } from '../gym/gym-grades.ts';
import { toldOf, twoWithHands, unseenPool, unservedPool } from '../gym/gym-pools.ts';
import { GymBook, gymTasks } from '../gym/gym-tasks.ts';
import { gymRule } from '../gym/gym-worker.ts';
import { runPlanInProcess } from '../gym/run-plan-in-process.ts';
import { GYM_PLAN_TOKENS } from '../gym/train-on-gym.ts';
import { BUNDLED_FOLDER, conductorPlanner, withConductorModel } from '../gym/with-conductor-model.ts';

/* What hands, attempts and a cheap first try are worth in the gym: the same pools, tasks and luck without hands, with two of five, and with five. */

const USAGE = `usage: node with-node.mjs node backend/lab.ts gym-hands [options]

  --model DIR   the Conductor (media/conductor-mini)
  --seeds N     seeds from 1, each with tasks, luck and an unseen pool of its own (5)
  --tasks N     held-out tasks of each seed (100)
  --told        the Conductor is told who has hands: for models that were trained so
`;

const { values } = parseArgs({
  options: {
    model: { type: 'string', default: BUNDLED_FOLDER },
    seeds: { type: 'string', default: '5' },
    tasks: { type: 'string', default: '100' },
    told: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const ATTEMPTS = 3;
/** A short search: three heats of few trials. The oracle is a little weaker for it. */
const SEARCH = [{ trials: 10, keep: 20 }, { trials: 30, keep: 5 }, { trials: 80, keep: 3 }];
/** Tasks of training that tell what a worker costs, and how good it is alone. */
const PRACTICE = { seed: 8_001, count: 90 };

const HANDS = ['without hands', 'two of five with hands', 'all with hands'] as const;
type Handed = (typeof HANDS)[number];

const { signal } = new AbortController();

if (values.help) process.stdout.write(USAGE);
else {
  const seeds = Array.from({ length: Number(values.seeds) }, (_, index) => index + 1);
  const results = new Map<Handed, ContestantResult[]>();
  await withConductorModel(values.model, async (model) => {
    for (const seed of seeds) {
      for (const handed of HANDS) results.set(handed, joined(results.get(handed), await resultsOf(model, seed, handed)));
      process.stderr.write(`seed ${seed} of ${seeds.length}\n`);
    }
  });
  process.stdout.write(tableOf(results));
}

function workersOf(seed: number, handed: Handed): SimulatedWorker[] {
  const workers = unseenPool(100 + seed);
  if (handed === 'two of five with hands') return twoWithHands(workers, 300 + seed);
  return workers.map((worker) => ({ ...worker, hasHands: handed === 'all with hands' }));
}

async function resultsOf(model: LocalModel, seed: number, handed: Handed): Promise<ContestantResult[]> {
  const workers = workersOf(seed, handed);
  const pool = unservedPool(workers);
  const tasks = gymTasks({ seed, split: 'held-out', count: Number(values.tasks) });
  const judged: GymEvalTask[] = tasks.map((task) => ({ ...task, context: '', grader: knownGrader(task) }));
  const record = await practise(workers);
  const planOf = conductorPlans(model, workers);
  const byCost = (plans: readonly (Plan | undefined)[]): Plan[] => plans.filter((plan) => plan !== undefined).sort((a, b) => estimated(a, record) - estimated(b, record));
  const random = (task: GymEvalTask, attempt: number): Plan => randomPlan(workers.length, new KeyedRandom('random plan', seed, task.id, attempt));
  const each = <T>(of: (attempt: number) => T, attempts: number): T[] => Array.from({ length: attempts }, (_, attempt) => of(attempt));
  const best = record.reduce((first, { right }, worker) => (right > (record[first]?.right ?? 0) ? worker : first), 0);
  const cheapest = record.reduce((first, { costUsd }, worker) => (costUsd < (record[first]?.costUsd ?? Infinity) ? worker : first), 0);
  const planned = async (task: GymEvalTask, attempts: number): Promise<Plan[]> => byCost(await Promise.all(each((attempt) => planOf(task, seed, attempt), attempts)));
  const inTurn = (name: string, plansFor: (task: GymEvalTask) => readonly Plan[] | Promise<readonly Plan[]>): Contestant<GymEvalTask> =>
    plansInTurn(name, { plansFor, signal });
  const { contestants } = await gymContestants({ workers, pool, tasks, signal, search: SEARCH, practice: 1 });
  return await compare({
    contestants: [
      inTurn('random plan', (task) => [random(task, 0)]),
      inTurn(`random plans, up to ${ATTEMPTS} attempts`, (task) => byCost(each((attempt) => random(task, attempt), ATTEMPTS))),
      inTurn('cheapest worker alone', () => [alone(cheapest)]),
      inTurn('best worker alone', () => [alone(best)]),
      inTurn('Conductor', (task) => planned(task, 1)),
      inTurn('cheapest worker alone, then the Conductor', async (task) => [alone(cheapest), ...await planned(task, 1)]),
      inTurn(`Conductor, up to ${ATTEMPTS} attempts`, (task) => planned(task, ATTEMPTS)),
      ...contestants.filter(({ name }) => name === BASELINES.oracle),
    ],
    tasks: judged, pool, seeds: [seed], runFor: () => runPlanInProcess({ seed, workers, rule: gymRule(new GymBook(tasks)) }), concurrency: 1, signal,
  });
}

/** Plans as the product has them written: constrained, at temperature 1. */
function conductorPlans(model: LocalModel, workers: readonly SimulatedWorker[]): (task: GymEvalTask, seed: number, attempt: number) => Promise<Plan | undefined> {
  const planner = conductorPlanner({ told: values.told });
  const written = new Map<string, Plan | undefined>();
  const conductor = conductorContestant({
    name: 'Conductor', planner, model: new LocalAdapter(planner, model), pool: toldOf(unservedPool(workers)), maxTokens: GYM_PLAN_TOKENS, signal, constrained: true,
  });
  return async (task, seed, attempt) => {
    const key = `${task.id}:${attempt}`;
    if (!written.has(key)) {
      let plan: Plan | undefined;
      await conductor.answer(task, (one) => {
        plan = one;
        return Promise.resolve(UNANSWERED);
      }, seed + 1_000 * attempt);
      written.set(key, plan);
    }
    return written.get(key);
  };
}

/** What each worker costs alone, and how often it is right, on tasks of training. */
async function practise(workers: readonly SimulatedWorker[]): Promise<{ readonly costUsd: number; readonly right: number }[]> {
  const tasks = gymTasks({ ...PRACTICE, split: 'train' });
  const run = runPlanInProcess({ seed: PRACTICE.seed, workers, rule: gymRule(new GymBook(tasks)) });
  const pool = unservedPool(workers);
  return await Promise.all(workers.map(async (_, worker) => {
    const outcomes = await Promise.all(tasks.map((task) => run({ ...task, context: '', grader: knownGrader(task) }, alone(worker), { pool, sample: 0, signal })));
    return { costUsd: mean(outcomes.map(({ costUsd }) => costUsd)), right: mean(outcomes.map(({ verified }) => Number(verified))) };
  }));
}

/** Dollars: each step as much as its worker's steps cost in practice. */
function estimated({ modelIds }: Plan, record: readonly { readonly costUsd: number }[]): number {
  return modelIds.reduce((sum, worker) => sum + (record[worker]?.costUsd ?? 0), 0);
}

/** With the rows of another seed below. */
function joined(before: readonly ContestantResult[] | undefined, after: ContestantResult[]): ContestantResult[] {
  return after.map(({ name, outcomes }) => ({ name, outcomes: [...(before?.find((result) => result.name === name)?.outcomes ?? []), ...outcomes] }));
}

function tableOf(results: ReadonlyMap<Handed, readonly ContestantResult[]>): string {
  const columns = HANDS.map((handed) => (results.get(handed) ?? []).map(standingOf));
  const rows = (columns[0] ?? []).map(({ name }) => [name, ...columns.flatMap((column) => {
    const found = column.find((standing) => standing.name === name);
    return found ? [`${percent(found.right.mean)} (${percent(found.right.low)} to ${percent(found.right.high)})`, (1_000 * found.costUsd).toFixed(2)] : ['', ''];
  })]);
  return [
    ['who answers', ...HANDS.flatMap((handed) => [`right, ${handed}`, '$ per 1,000'])], ['---', ...HANDS.flatMap(() => ['---:', '---:'])], ...rows,
  ].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}
