import { parseArgs } from 'node:util';
import { compare } from '../../eval/compare.ts';
import { GymArena } from '../gym/gym-arena.ts';
import { gymContestants, type GymEvalTask } from '../gym/gym-contestants.ts';
import { bestAlone, gymReport } from '../../eval/standings.ts';
import { runPlanInProcess } from '../gym/run-plan-in-process.ts';
import { runPlanOnWire } from '../../eval/run-plan-on-wire.ts';
import type { RunPlan } from '../../eval/run-plan.ts';
import { isProcessAlive } from '../../protocol/client/process-alive.ts';
import { knownGrader } from '../gym/gym-grades.ts';
import { randomPool, TRAINING_POOL, unseenPool } from '../gym/gym-pools.ts';
import { GymBook, gymTasks } from '../gym/gym-tasks.ts';
import { gymRule } from '../gym/gym-worker.ts';
import type { SimulatedWorker } from '../../simulator/pool.ts';

/* The gym without a Conductor: simulated workers behind their wire formats,
  answers executed in the sandbox. */

const USAGE = `usage: node with-node.mjs node backend/lab.ts gym-compare [options]

  --tasks N     held-out tasks (200)
  --seed N      of the tasks, and the first of the workers' luck (1)
  --seeds N     how often the workers' luck is drawn anew (5)
  --pool NAME   fixed, random:N (drawn from the roster of training) or unseen:N (fixed)
  --in-process  without wire and sandbox: the same answers and costs, graded by the known solutions
`;

const { values } = parseArgs({
  options: {
    tasks: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    seeds: { type: 'string', default: '5' },
    pool: { type: 'string', default: 'fixed' },
    'in-process': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const [tasksWanted, seed, seedsWanted] = [values.tasks, values.seed, values.seeds].map(Number) as [number, number, number];
const workers = poolNamed(values.pool);

const isUsable = workers
  && [tasksWanted, seedsWanted].every((count) => Number.isInteger(count) && count > 0) &&
  Number.isInteger(seed);
if (values.help || !isUsable) {
  process.stdout.write(USAGE);
  process.exitCode = values.help ? 0 : 2;
} else {
  await comparePool(workers);
}

function poolNamed(name: string): readonly SimulatedWorker[] | undefined {
  const [kind, number] = name.split(':');
  if (name === 'fixed') return TRAINING_POOL;
  if (number === undefined || !/^\d+$/.test(number)) return undefined;
  if (kind === 'random') return randomPool(Number(number));
  return kind === 'unseen' ? unseenPool(Number(number)) : undefined;
}

async function comparePool(gymWorkers: readonly SimulatedWorker[]): Promise<void> {
  const tasks = gymTasks({ seed, split: 'held-out', count: tasksWanted });
  const seeds = Array.from({ length: seedsWanted }, (_, index) => seed + index);
  const rule = gymRule(new GymBook(tasks));
  const abort = new AbortController();
  process.once('SIGINT', () => abort.abort(new Error('Interrupted.')));
  // The seeds' pools have the same workers. Only their random seeds and addresses differ.
  const arena = await GymArena.open(Object.fromEntries(seeds.map((luck) => [luck, { workers: gymWorkers, luck }])), tasks, isProcessAlive);
  try {
    const pool = arena.pool(String(seed));
    const { contestants, oracle } = await gymContestants({ workers: gymWorkers, pool, tasks, signal: abort.signal });
    for (const [generator, { modelIds, subtasks, accessList }] of oracle) {
      const steps = modelIds.map((worker,
        step) => `${worker} "${subtasks[step]?.split(' ')[0]} …" ${JSON.stringify(accessList[step])}`);
      say(`oracle, ${generator}: ${steps.join(' | ')}`);
    }
    const onWire = runPlanOnWire(arena.caller);
    const runFor = (luck: number): RunPlan => {
      if (values['in-process']) return runPlanInProcess({ seed: luck, workers: gymWorkers, rule });
      return (task, plan, options) => onWire(task, plan, { ...options, pool: arena.pool(String(luck)) });
    };
    const graderOf = values['in-process'] ? knownGrader : (task: (typeof tasks)[number]) => arena.grades.graderOf(task);
    const judged: GymEvalTask[] = tasks.map((task) => ({ ...task, context: '', grader: graderOf(task) }));
    const results = await compare({
      contestants, tasks: judged, pool, seeds, runFor, concurrency: 8, signal: abort.signal,
      onProgress: (done, all) => process.stderr.write(`\r${done} of ${all}`),
    });
    process.stderr.write('\n');
    const names = gymWorkers.map(({ name }) => name);
    process.stdout.write(gymReport([bestAlone(results, names), ...results]));
  } finally {
    await arena.close();
  }
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
