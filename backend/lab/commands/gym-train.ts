import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { PROMPT_PROFILES } from '../../conductor/prompt-profile.ts';
import { ablationsFor } from '../../conductor/plan/ablations.ts';
import { compare, type ContestantResult } from '../../eval/compare.ts';
import { changedPlans, conductorContestant } from '../../eval/conductor-contestant.ts';
import type { Contestant } from '../../eval/contestant.ts';
import { GymArena } from '../gym/gym-arena.ts';
import { gymContestants } from '../gym/gym-contestants.ts';
import { percent } from '../../eval/standings.ts';
import { CONDUCTOR, type GymResult, gymResultSchema, type TriedContestant, triedContestant } from '../gym/gym-result.ts';
import { runPlanInProcess } from '../gym/run-plan-in-process.ts';
import { runPlanOnWire } from '../../eval/run-plan-on-wire.ts';
import { SABOTAGES } from '../gym/sabotage.ts';
import { GYM_PLAN_TOKENS, GYM_POOLS, GYM_TRAINING_DEFAULTS, trainOnGym, type GymTrainingOptions } from '../gym/train-on-gym.ts';
import { conductorPlanner } from '../gym/with-conductor-model.ts';
import { Journal } from '../../journal/journal.ts';
import { writeNarrowCheckpoint } from '../../lm/checkpoint/narrow-checkpoint.ts';
import { ModelClient } from '../../lm/process/model-client.ts';
import { openTokenizer } from '../../lm/tokenizer/tokenizer.ts';
import { LOSS_TYPES } from '../../lm/trainer/loss-weights.ts';
import { isProcessAlive } from '../../protocol/client/process-alive.ts';
import type { WorkerConfig } from '../../protocol/worker-config.ts';
import { LocalAdapter } from '../../workers/adapters/local-adapter.ts';
import { knownGrader } from '../gym/gym-grades.ts';
import { toldOf, TRAINING_POOL, TRAINING_ROSTER, TRAINING_ROSTER_WITH_HANDS, unseenPool, unseenPoolWithHands } from '../gym/gym-pools.ts';
import { GymBook, gymTasks } from '../gym/gym-tasks.ts';
import { gymRule } from '../gym/gym-worker.ts';
import { wantTasks } from '../gym/wants/want-tasks.ts';
import type { SimulatedWorker } from '../../simulator/pool.ts';
import { mean } from '../../train/statistics/statistics.ts';
import { CheckpointStore } from '../../train/grpo/checkpoint-store.ts';
import type { Plan } from '../../workflow/plan.ts';

/*
 * Trains conductor-mini on the gym: simulated workers behind real wire formats solve tasks, and their answers are executed and tested.
 */

const { steps, tasksPerStep, groupSize, learningRate, lossType, divergence, pools } = GYM_TRAINING_DEFAULTS;
const USAGE = `usage: npm run train:gym -- [options]

  --seed N        of tasks, plans and the workers' luck (1)
  --steps N       updates (${steps})
  --tasks N       tasks a step (${tasksPerStep})
  --group N       plans a task (${groupSize})
  --rate X        learning rate at its top (${learningRate})
  --loss NAME     ${LOSS_TYPES.join(', ')}: how losses of tokens become one (${lossType})
  --divergence X  how much the divergence from the model that began counts (${divergence})
  --pools NAME    fixed; random: five workers of the roster of training, drawn anew for each group; or both in turn (${pools})
  --wants N       tasks of other wants than code, beside the 360 that want code (0)
  --hands         some workers of half of the drawn pools have hands, and the model is told who
  --held-out N    held-out tasks that the model is tried on before and after (200)
  --sabotage NAME ${SABOTAGES.join(', ')}: a training that must teach nothing
  --model DIR     what begins: conductor-mini before it was trained here (dist/train-mini/imitated)
  --work DIR      where the training is kept, to go on with (dist/gym/SEED)
  --result FILE   where the result goes (docs/gym/seed-SEED.json)
  --out DIR       where the trained model goes, in bfloat16, beside what else lies there; nowhere if absent
  --threads N     threads of one operation; onnxruntime's choice where absent, 1 where the machine is busy
`;

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../..');
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    steps: { type: 'string', default: String(steps) },
    tasks: { type: 'string', default: String(tasksPerStep) },
    group: { type: 'string', default: String(groupSize) },
    rate: { type: 'string', default: String(learningRate) },
    loss: { type: 'string', default: lossType },
    divergence: { type: 'string', default: String(divergence) },
    pools: { type: 'string', default: pools },
    wants: { type: 'string', default: '0' },
    hands: { type: 'boolean', default: false },
    'held-out': { type: 'string', default: '200' },
    sabotage: { type: 'string' },
    model: { type: 'string', default: path.join(root, 'dist', 'train-mini', 'imitated') },
    work: { type: 'string' },
    result: { type: 'string' },
    out: { type: 'string' },
    threads: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
const seed = Number(values.seed);
const loss = LOSS_TYPES.find((name) => name === values.loss);
const trainedPools = GYM_POOLS.find((name) => name === values.pools);
const sabotage = SABOTAGES.find((name) => name === values.sabotage);
const name = [`seed-${seed}`, ...(values.wants === '0' ? [] : ['wants']), ...(values.hands ? ['hands'] : []), ...(trainedPools === pools ? [] : [`${trainedPools}-pools`]), ...(sabotage ? [sabotage] : [])].join('-');
const work = path.resolve(values.work ?? path.join(root, 'dist', 'gym', name));
const resultFile = path.resolve(values.result ?? path.join(root, 'docs', 'gym', `${name}.json`));
const options: GymTrainingOptions = {
  seed, sabotage,
  steps: Number(values.steps),
  tasksPerStep: Number(values.tasks),
  groupSize: Number(values.group),
  learningRate: Number(values.rate),
  lossType: loss ?? lossType,
  divergence: Number(values.divergence),
  pools: trainedPools ?? pools,
};
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const isUsable = trainedPools !== undefined && (values.sabotage === undefined || sabotage !== undefined) && loss !== undefined &&
  [options.steps, options.tasksPerStep, options.groupSize, Number(values['held-out'])].every((count) => Number.isInteger(count) && count > 0) &&
  Number.isInteger(Number(values.wants)) && Number(values.wants) >= 0 &&
  options.divergence >= 0;
if (values.help || !isUsable) {
  process.stdout.write(USAGE);
  process.exitCode = values.help ? 0 : 2;
} else if (!existsSync(values.model)) {
  process.stderr.write(`There is no model in ${values.model}: "npm run train:mini" makes it, in its first part, or name another with --model.\n`);
  process.exitCode = 2;
} else {
  const interrupt = new AbortController();
  process.once('SIGINT', () => interrupt.abort(new Error('Interrupted; the same command goes on from the last step.')));
  await run(interrupt.signal).catch((error: unknown) => {
    if (!interrupt.signal.aborted) throw error;
    say((interrupt.signal.reason as Error).message);
    process.exitCode = 130;
  });
}

async function run(signal: AbortSignal): Promise<void> {
  await mkdir(work, { recursive: true });
  const others = Number(values.wants);
  const tasks = [
    ...gymTasks({ seed: 10_000 + seed, split: 'train', count: 360 }),
    ...(others > 0 ? wantTasks({ seed: 10_000 + seed, split: 'train', count: others }) : []),
  ];
  const heldOut = gymTasks({ seed, split: 'held-out', count: Number(values['held-out']) });
  const unseenWorkers = unseenPool(100 + seed);
  const workersOf = { fixed: TRAINING_POOL, unseen: unseenWorkers, hands: unseenPoolWithHands(300 + seed) };
  const arena = await GymArena.open({
    train: { workers: TRAINING_POOL, luck: 1_000 + seed },
    roster: { workers: TRAINING_ROSTER, luck: 1_000 + seed },
    fixed: { workers: TRAINING_POOL, luck: seed },
    unseen: { workers: unseenWorkers, luck: seed },
    rosterWithHands: { workers: TRAINING_ROSTER_WITH_HANDS, luck: 1_000 + seed },
    hands: { workers: workersOf.hands, luck: seed },
  }, [...tasks, ...heldOut], isProcessAlive);
  const { grades, caller, prices } = arena;
  // The answers to these tasks are known, so no wire or sandbox is needed. The oracle's search takes most of the time.
  const tryPeers = async (
    workers: readonly SimulatedWorker[], pool: readonly WorkerConfig[], variants: (best: number) => readonly Contestant[],
  ): Promise<TriedContestant[]> => {
    const { contestants, best } = await gymContestants({ workers, pool, tasks: heldOut, signal });
    const run = runPlanInProcess({ seed, workers, rule: gymRule(new GymBook(heldOut)) });
    const judged = heldOut.map((task) => ({ ...task, context: '', grader: knownGrader(task) }));
    const results = await compare({
      contestants: [...contestants, ...variants(best)], tasks: judged, pool, seeds: [seed], runFor: () => run, concurrency: 8, signal,
    });
    return results.map((result) => triedContestant(result));
  };
  // In its own process, so that plans are sampled while plans of other tasks run.
  const open = (trainable: 'weights' | undefined): ModelClient => new ModelClient({
    settings: { folder: path.resolve(values.model), device: 'cpu', precision: 'full', adapters: false, trainable, storage: work },
    script: fileURLToPath(new URL('../../model-process.ts', import.meta.url)),
    chooseDevice: async () => ({ device: 'cpu', reasons: [] }),
    idleMs: 2 ** 31 - 1,
    threads: values.threads === undefined ? undefined : Number(values.threads),
  });
  const model = open('weights');
  // The reference model is not trained. Its process starts with the first request.
  const reference = open(undefined);
  // A resumed training repeats its interrupted rollouts: here this costs only time.
  const journal = Journal.open(path.join(arena.temporary, 'journal.sqlite'), { isDurable: false });
  try {
    const planner = conductorPlanner({ told: values.hands });
    const profile = PROMPT_PROFILES[planner.promptProfile];
    const conductor = { planner, model: new LocalAdapter(planner, model), maxTokens: GYM_PLAN_TOKENS, signal };
    const tryConductor = async (name: string, on: TriedPool, temperature = 1): Promise<WrittenPlans> => {
      const pool = arena.pool(on);
      const plans = new Map<string, Plan>();
      const contestant = conductorContestant({ ...conductor, name, pool: toldOf(pool), temperature, onPlan: ({ id }, plan) => void (plan && plans.set(id, plan)) });
      const judged = heldOut.map((task) => grades.judged(task));
      const [result] = await compare({
        contestants: [contestant], tasks: judged, pool, seeds: [seed], runFor: () => runPlanOnWire(caller), concurrency: 4, signal,
      });
      const tried = triedContestant(result as ContestantResult, plans.size / heldOut.length);
      say(`${name}, ${on} pool: ${summary(tried)}`);
      return { tried, plans };
    };
    const tryOnEach = async <T>(trial: (on: TriedPool) => Promise<T>): Promise<Tried<T>> => ({
      fixed: await trial('fixed'), unseen: await trial('unseen'), ...(values.hands && { hands: await trial('hands') }),
    });
    /** Results with constrained decoding, and of ablated plans. */
    const variantsOf = ({ plans }: WrittenPlans, on: TriedPool) => (best: number): Contestant[] => [
      conductorContestant({ ...conductor, name: `${CONDUCTOR.after}, constrained`, pool: toldOf(arena.pool(on)), constrained: true }),
      ...ablationsFor(best).map(({ name, change }) => changedPlans(`${CONDUCTOR.after}, ${name}`, plans, change)),
    ];
    const store = new CheckpointStore(work, { configuration: JSON.stringify([options, values.model, ...(others > 0 ? [others] : []), ...(values.hands ? ['hands'] : [])]), kept: 1 });
    const before = await tryOnEach((on) => tryConductor(CONDUCTOR.before, on));
    let began = performance.now();
    const taken: number[] = [];
    const { metrics, plans } = await trainOnGym({
      model, reference, profile, tokenizer: await openTokenizer(path.resolve(values.model)), journal, caller, prices, store, signal,
      tasks: tasks.map((task) => grades.judged(task)),
      pool: arena.pool('train'),
      roster: arena.pool('roster'),
      rosterWithHands: values.hands ? arena.pool('rosterWithHands') : undefined,
      onStep: (step, step_) => {
        const seconds = (performance.now() - began) / 1_000;
        began = performance.now();
        taken.push(seconds);
        const left = (mean(taken.slice(-10)) * (options.steps - step)) / 60;
        say(`step ${step}/${options.steps}  reward ${step_['reward']?.toFixed(3)}  verified ${step_['verified_rate']?.toFixed(3)}  ` +
          `format ${step_['format_rate']?.toFixed(3)}  entropy ${step_['entropy']?.toFixed(2)}  length ${step_['completions/mean_length']?.toFixed(0)}  ${seconds.toFixed(1)} s, ${left.toFixed(1)} min left`);
      },
    }, options);
    const after = await tryOnEach((on) => tryConductor(CONDUCTOR.after, on));
    const likeliest = `${CONDUCTOR.after}, most likely plans`;
    const greedy = await tryOnEach((on) => tryConductor(likeliest, on, 0));
    const resultOn = async (on: TriedPool): Promise<TriedContestant[]> => {
      const conductors = [before, after, greedy].map((trial) => trial[on] as WrittenPlans);
      const peers = await tryPeers(workersOf[on], arena.pool(on), variantsOf(after[on] as WrittenPlans, on));
      return [...conductors.map(({ tried }) => tried), ...peers];
    };
    const trained = path.join(work, 'trained');
    await rm(trained, { recursive: true, force: true });
    await model.exportTrained(trained);
    if (values.out !== undefined) await writeNarrowCheckpoint(trained, path.resolve(values.out));
    await mkdir(path.dirname(resultFile), { recursive: true });
    const result: GymResult = {
      simulation: true, seed, options: { ...options, ...(others > 0 && { wants: others }), ...(values.hands && { hands: true }) }, heldOut: heldOut.map(({ generator }) => generator),
      pools: await tryOnEach(resultOn),
      metrics: [...metrics], plans: [...plans],
    };
    await writeFile(resultFile, `${JSON.stringify(gymResultSchema.parse(result))}\n`);
    say(`Written to ${resultFile}; the model is in ${trained}.`);
  } finally {
    journal.close();
    await model.close();
    await reference.close();
    await arena.close();
  }
}

type TriedPool = 'fixed' | 'unseen' | 'hands';

interface Tried<T> {
  readonly fixed: T;
  readonly unseen: T;
  /** Where a training has workers with hands. */
  readonly hands?: T;
}

/** A Conductor's results and its plans by task id. */
interface WrittenPlans {
  readonly tried: TriedContestant;
  readonly plans: ReadonlyMap<string, Plan>;
}

function summary({ right, costUsd, formatRate = 0 }: TriedContestant): string {
  return `${percent(mean(right))} right, ${percent(formatRate)} plans, $${(1_000 * costUsd).toFixed(2)} per 1,000`;
}
