import './cli/require-node.ts';
import { mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { compare } from './eval/gym/compare.ts';
import { gymContestants, type GymEvalTask } from './eval/gym/gym-contestants.ts';
import { bestAlone, gymReport } from './eval/gym/gym-report.ts';
import { runPlanInProcess } from './eval/gym/run-plan-in-process.ts';
import { runPlanOnWire } from './eval/gym/run-plan-on-wire.ts';
import type { RunPlan } from './eval/gym/run-plan.ts';
import { isProcessAlive } from './protocol/client/process-alive.ts';
import { workerConfigSchema, type WorkerConfig } from './protocol/worker-config.ts';
import { GymGrades, knownGrader } from './simulator/gym/gym-grades.ts';
import { randomPool, TRAINING_POOL, unseenPool } from './simulator/gym/gym-pools.ts';
import { GymBook, gymTasks } from './simulator/gym/gym-tasks.ts';
import { gymRule } from './simulator/gym/gym-worker.ts';
import type { SimulatedWorker } from './simulator/pool.ts';
import { SimulatorServer } from './simulator/server.ts';
import { ProgramSandbox } from './verify/graders/code/program-sandbox.ts';
import { RunFolders } from './verify/run-folder.ts';
import { Sandbox } from './verify/sandbox.ts';
import { WorkerCaller } from './workers/call-worker.ts';
import { loadPrices } from './workers/prices.ts';
import { ProviderLimits } from './workers/provider-limits.ts';

/* Composition root of the gym: simulated workers behind their wire formats,
  answers executed in the sandbox. It is in no bundle. */

const USAGE = `usage: node with-node.mjs node backend/gym.ts compare [options]

  --tasks N     held-out tasks (200)
  --seed N      of the tasks, and the first of the workers' luck (1)
  --seeds N     how often the workers' luck is drawn anew (5)
  --pool NAME   fixed, random:N (drawn from the roster of training) or unseen:N (fixed)
  --in-process  without wire and sandbox: the same answers and costs, graded by the known solutions
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
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

const isUsable = positionals.join() === 'compare' && workers
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
  const home = await mkdtemp(path.join(tmpdir(), 'conductor-gym-'));
  const abort = new AbortController();
  process.once('SIGINT', () => abort.abort(new Error('Interrupted.')));
  const servers = await Promise.all(seeds.map((luck) => SimulatorServer.start({ seed: luck, latency: 0, workers: gymWorkers,
    rule })));
  try {
    // The servers of the seeds have the same workers; only where they are reached differs.
    const poolOf = (server: SimulatorServer): WorkerConfig[] =>
      server.workers().map((worker) => workerConfigSchema.parse(worker));
    const pools = servers.map(poolOf);
    const pool = pools[0] as WorkerConfig[];
    const { contestants, oracle } = await gymContestants({ workers: gymWorkers, pool, tasks, signal: abort.signal });
    for (const [generator, { modelIds, subtasks, accessList }] of oracle) {
      const steps = modelIds.map((worker,
        step) => `${worker} "${subtasks[step]?.split(' ')[0]} …" ${JSON.stringify(accessList[step])}`);
      say(`oracle, ${generator}: ${steps.join(' | ')}`);
    }
    const folders = new RunFolders(path.join(home, 'verify'), isProcessAlive);
    const sandbox = new Sandbox({ searchPath: process.env.PATH ?? '', homeFolder: homedir(), hiddenFolders: [home], folders });
    const grades = new GymGrades(new ProgramSandbox({ sandbox, folders, hidden: [] }));
    const caller = new WorkerCaller({ limits: new ProviderLimits({ workers: pools.flat() }), prices: await loadPrices() });
    const onWire = runPlanOnWire(caller);
    const runFor = (luck: number): RunPlan => {
      if (values['in-process']) return runPlanInProcess({ seed: luck, workers: gymWorkers, rule });
      const served = pools[seeds.indexOf(luck)] as WorkerConfig[];
      return (task, plan, options) => onWire(task, plan, { ...options, pool: served });
    };
    const graderOf = values['in-process'] ? knownGrader : (task: (typeof tasks)[number]) => grades.graderOf(task);
    const judged: GymEvalTask[] = tasks.map((task) => ({ ...task, context: '', grader: graderOf(task) }));
    const results = await compare({
      contestants, tasks: judged, pool, seeds, runFor, concurrency: 8, signal: abort.signal,
      onProgress: (done, all) => process.stderr.write(`\r${done} of ${all}`),
    });
    process.stderr.write('\n');
    const names = gymWorkers.map(({ name }) => name);
    process.stdout.write(gymReport([bestAlone(results, names), ...results]));
  } finally {
    await Promise.all(servers.map((server) => server.close()));
    await rm(home, { recursive: true, force: true });
  }
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
