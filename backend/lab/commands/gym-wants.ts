import { parseArgs } from 'node:util';
import { compare } from '../../eval/compare.ts';
import { conductorContestant } from '../../eval/conductor-contestant.ts';
import { BASELINES, byPlan } from '../../eval/contestant.ts';
import { randomPlan } from '../../eval/contestants/random-plans.ts';
import { percent } from '../../eval/standings.ts';
import { KeyedRandom } from '../../common/keyed-random.ts';
import type { LocalModel } from '../../lm/local-model.ts';
import type { SimulatedWorker } from '../../simulator/pool.ts';
import { estimate } from '../../train/statistics/statistics.ts';
import { LocalAdapter } from '../../workers/adapters/local-adapter.ts';
import { knownGrader } from '../gym/gym-grades.ts';
import { toldOf, TRAINING_POOL, unseenPool, unseenPoolWithHands, unservedPool } from '../gym/gym-pools.ts';
import { GymBook, gymTasks, type GymTask } from '../gym/gym-tasks.ts';
import { gymRule } from '../gym/gym-worker.ts';
import { runPlanInProcess } from '../gym/run-plan-in-process.ts';
import { GYM_PLAN_TOKENS } from '../gym/train-on-gym.ts';
import { WANTS } from '../gym/wants/want.ts';
import { wantPlans } from '../gym/wants/want-plans.ts';
import { wantTasks } from '../gym/wants/want-tasks.ts';
import { BUNDLED_FOLDER, conductorPlanner, withConductorModel } from '../gym/with-conductor-model.ts';

/* How well a Conductor plans for each want of the gym: in process, its answers graded by the known ones. */

const USAGE = `usage: node with-node.mjs node backend/lab.ts gym-wants [options]

  --model DIR     the Conductor (media/conductor-mini); given several times, the first for seed 1, the next for seed 2, and so on in turn
  --seeds N       seeds from 1, each with tasks, luck and an unseen pool of its own (2)
  --code N        held-out tasks that ask for a new function (100)
  --wants N       held-out tasks of the other wants (90)
  --hands         also a third pool, of which some have hands, and the Conductor is told who: for models that were trained so
  --heedless      workers that do not mind what they are told, as when the gym's first figures were measured
  --constrained   the Conductor can write nothing but plans, as in the product
  --temperature X of the plans; 0 for the most likely ones (1)
`;

const { values } = parseArgs({
  options: {
    model: { type: 'string', multiple: true, default: [BUNDLED_FOLDER] },
    seeds: { type: 'string', default: '2' },
    code: { type: 'string', default: '100' },
    wants: { type: 'string', default: '90' },
    constrained: { type: 'boolean', default: false },
    hands: { type: 'boolean', default: false },
    heedless: { type: 'boolean', default: false },
    temperature: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) process.stdout.write(USAGE);
else await measure();

/** Of one want with one pool: for each contestant the results of each seed. */
type Rows = Map<string, { readonly right: number[][]; readonly steps: number[] }>;

async function measure(): Promise<void> {
  const tables = new Map<string, Rows>();
  for (const seed of Array.from({ length: Number(values.seeds) }, (_, index) => index + 1)) {
    const tasks = [
      ...gymTasks({ seed, split: 'held-out', count: Number(values.code) }),
      ...(Number(values.wants) > 0 ? wantTasks({ seed, split: 'held-out', count: Number(values.wants) }) : []),
    ];
    await withConductorModel(values.model[(seed - 1) % values.model.length] ?? '', async (model) => {
      const pools = [['fixed', TRAINING_POOL], ['unseen', unseenPool(100 + seed)], ...(values.hands ? [['hands', unseenPoolWithHands(300 + seed)] as const] : [])] as const;
      for (const [name, workers] of pools) await tryPool(model, tables, { name, workers, tasks, seed });
    });
  }
  for (const [name, rows] of tables) process.stdout.write(`${tableOf(name, rows)}\n`);
}

interface Tried {
  readonly name: string;
  readonly workers: readonly SimulatedWorker[];
  readonly tasks: readonly GymTask[];
  readonly seed: number;
}

async function tryPool(model: LocalModel, tables: Map<string, Rows>, { name, workers, tasks, seed }: Tried): Promise<void> {
  const { signal } = new AbortController();
  const pool = unservedPool(workers);
  const planner = conductorPlanner({ told: values.hands });
  const steps = new Map<string, number>();
  const conductor = conductorContestant({
    name: 'Conductor', planner, model: new LocalAdapter(planner, model), pool: toldOf(pool), maxTokens: GYM_PLAN_TOKENS, signal,
    temperature: Number(values.temperature), constrained: values.constrained, onPlan: ({ id }, plan) => void steps.set(id, plan?.modelIds.length ?? 0),
  });
  const best = (role: 'plan' | 'write' | 'check', { kind }: GymTask): number =>
    workers.reduce((first, { skills }, ordinal) => (skills[kind][role] > (workers[first]?.skills[kind][role] ?? 0) ? ordinal : first), 0);
  const handed = workers.flatMap(({ hasHands }, ordinal) => (hasHands ? [ordinal] : []));
  const bestWithHands = ({ kind }: GymTask): number =>
    handed.reduce((first, ordinal) => ((workers[ordinal]?.skills[kind].write ?? 0) > (workers[first]?.skills[kind].write ?? 0) ? ordinal : first), handed[0] ?? 0);
  const shaped = (shape: keyof ReturnType<typeof wantPlans>) => byPlan<GymTask & { context: ''; grader: ReturnType<typeof knownGrader> }>(
    `${shape}, by who does it best`, (task) => wantPlans(task.want, { planner: best('plan', task), writer: best('write', task), checker: best('check', task) })[shape]);
  const run = runPlanInProcess({ seed, workers, rule: gymRule(new GymBook(tasks), { minds: !values.heedless }) });
  const judged = tasks.map((task) => ({ ...task, context: '' as const, grader: knownGrader(task) }));
  const results = await compare({
    contestants: [
      conductor, shaped('alone'), shaped('plan, write'), shaped('write, check'), shaped('plan, write, check'),
      ...(handed.length === 0 ? [] : [byPlan<GymTask & { context: ''; grader: ReturnType<typeof knownGrader> }>('alone, by who has hands and writes best',
        (task) => wantPlans(task.want, { planner: 0, writer: bestWithHands(task), checker: 0 }).alone)]),
      byPlan(BASELINES.random, (task) => randomPlan(pool.length, new KeyedRandom('random plan', seed, task.id))),
    ],
    tasks: judged, pool, seeds: [seed], runFor: () => run, concurrency: 1, signal,
  });
  for (const want of WANTS) {
    const own = tasks.flatMap((task, index) => (task.want === want ? [index] : []));
    if (own.length === 0) continue;
    const key = `${want}, ${name} pool`;
    const rows: Rows = tables.get(key) ?? new Map();
    tables.set(key, rows);
    for (const result of results) {
      const row = rows.get(result.name) ?? { right: [], steps: [] };
      rows.set(result.name, row);
      row.right.push(own.map((index) => Number(result.outcomes[0]?.[index]?.verified)));
      if (result.name === 'Conductor') row.steps.push(...own.map((index) => steps.get(tasks[index]?.id ?? '') ?? 0));
    }
  }
}

function tableOf(name: string, rows: Rows): string {
  const lines = [...rows].map(([contestant, { right, steps }]) => {
    const { mean, low, high } = estimate(right);
    const lengths = [1, 2, 3, 4, 5].map((count) => percent(steps.filter((one) => one === count).length / Math.max(1, steps.length)));
    return `| ${contestant} | ${percent(mean)} | ${percent(low)} to ${percent(high)} | ${steps.length > 0 ? lengths.join(', ') : ''} |`;
  });
  return [`${name}:`, '', '| contestant | right | 95 % interval | plans of 1, 2, 3, 4, 5 steps |', '| --- | ---: | ---: | --- |', ...lines, ''].join('\n');
}
