import { createHash } from 'node:crypto';
import { access, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Journal } from '../../journal/journal.ts';
import { PROJECTIONS } from '../../lm/adapter/projections.ts';
import type { TrainableModel } from '../../lm/language-model.ts';
import { ADAMW_DEFAULTS } from '../../lm/trainer/adamw.ts';
import type { Training, TrainingChange, TrainingConfig, TrainingLimits, TrainingRequirement } from '../../protocol/training.ts';
import type { Budget, WorkerConfig } from '../../protocol/worker-config.ts';
import type { Checker } from '../../solve/checker.ts';
import { RunError } from '../../solve/failure.ts';
import { profileOf } from '../../conductor/prompt-profile.ts';
import { judgingCommand, type JudgingCommand } from '../../solve/test-command.ts';
import type { Grader } from '../../verify/graders/grader.ts';
import { createGrader, type GraderTools } from '../../verify/graders/tasks/create-grader.ts';
import { readTasks } from '../../verify/graders/tasks/task-file.ts';
import { counted } from '../../common/counted.ts';
import type { Verifier } from '../../verify/verify.ts';
import { AnswerCache } from '../../workers/answer-cache.ts';
import type { WorkerCaller } from '../../workers/call-worker.ts';
import type { ClientModel } from '../../workers/adapters/client-model.ts';
import type { KeySource } from '../../workers/key-source.ts';
import type { Prices } from '../../workers/limits/prices.ts';
import { AnswerFile } from '../rollouts/answer-file.ts';
import { compareConductors } from './compare.ts';
import { draw } from '../statistics/draws.ts';
import { type ConductorPrompt, type GrpoTrainerOptions, trainWithGrpo } from '../grpo/grpo-trainer.ts';
import { LocalEngine } from '../engines/local-engine.ts';
import { RolloutGatherer } from '../rollouts/rollout-gatherer.ts';
import { Rollouts, type ToldRollout } from '../rollouts/rollouts.ts';
import type { Task } from '../tasks/task.ts';
import { projectTask } from '../tasks/project-task.ts';
import { checkUnchanged, makeProjectTasks, type TaskMakerParts } from '../tasks/project-tasks.ts';
import type { FrozenTasks, TrainingFolder } from './training-folder.ts';
import { rolloutLine } from '../rollouts/rollout-views.ts';
import { TrainingStore } from '../grpo/checkpoint-store.ts';
import { DecisionKeeper } from './training-tasks.ts';

/** Why a training cannot be made, or cannot go on; one sentence that says what to do. */
export class TrainingError extends Error {
  override readonly name = 'TrainingError';
  /** What it lacks, where that is known before it begins. */
  readonly missing: TrainingRequirement | undefined;

  constructor(message: string, missing?: TrainingRequirement) {
    super(message);
    this.missing = missing;
  }
}

/** Who trains, and with whom. */
export interface TrainingCast {
  /** The worker that plays the Conductor, a model of this machine. */
  readonly conductor: WorkerConfig;
  readonly pool: readonly WorkerConfig[];
  readonly budget: Budget;
}

export interface TrainingRunParts {
  readonly journal: Journal;
  readonly caller: WorkerCaller;
  readonly prices: Prices;
  readonly clientModel?: ClientModel | undefined;
  readonly verifier: Pick<Verifier, 'verify' | 'onBase'>;
  readonly sandboxAvailability: Checker['sandboxAvailability'];
  readonly findTestCommands: Checker['findTestCommands'];
  readonly runnerOf: Checker['runnerOf'];
  readonly gatherContext: TaskMakerParts['gatherContext'];
  readonly graderTools: GraderTools;
  /** The model, with room to train an adapter of it; `close` frees it. */
  readonly openModel: (conductor: WorkerConfig) => Promise<{ readonly model: TrainableModel; readonly close: () => Promise<void> }>;
  /** SHA-256 of the weights of a model whose name does not tell them; undefined for any other. */
  readonly baseOf?: ((conductor: Pick<WorkerConfig, 'model'>) => Promise<string | undefined>) | undefined;
  readonly delay: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly now: () => number;
}

export interface TrainingRunOptions {
  readonly training: Training;
  readonly folder: TrainingFolder;
  readonly cast: TrainingCast;
  readonly keys: KeySource;
  /** What the training may cost by now. */
  readonly limits: () => TrainingLimits;
  readonly signal: AbortSignal;
  /** Durable when it returns, where `state`, `step` or `comparison` changed. */
  readonly change: (change: TrainingChange) => Promise<void>;
  /** The same without waiting; a change that cannot be saved ends the training. */
  readonly report: (change: TrainingChange) => void;
}

/** Behind the id of a training: what the runs of its comparison are begun for. */
export const EVALUATION = '.evaluation';

/** The file of tasks that is read where a project has it. */
const TASKS_FILE = 'conductor.tasks.jsonl';

/**
 * One training from its tasks to the comparison that it is offered with. Goes on from wherever an earlier process left it: with the same
 * tasks, the same draws, and what workers have answered already.
 * @throws TrainingError and what its parts throw; the signal's reason
 */
export async function runTraining(parts: TrainingRunParts, options: TrainingRunOptions): Promise<void> {
  const { training: { config, workspace, trainingId, finishing = false }, folder, cast, keys, limits, signal, change, report } = options;
  await requireSandbox(parts, config);
  const frozen = (await folder.tasks()) ?? (await freezeTasks(parts, options));
  await checkUnchanged(workspace, frozen.project);
  const found = await tasksOf(parts, frozen, workspace);
  if (found.train.length === 0) throw new TrainingError('There is no task to train on: the project\'s tests notice too little, and no task file has any.');

  const answers = new AnswerFile(folder.answers);
  const { model, close } = await parts.openModel(cast.conductor);
  try {
    const told = (rollout: ToldRollout): void =>
      report({ rollouts: { step: rollout.at.step + 1, list: [rolloutLine(rollout, config.reward)] }, ...spent() });
    const rolloutsFor = (kind: 'rollout' | 'evaluation'): Rollouts => new Rollouts({
      ...parts, keys, kind,
      name: kind === 'rollout' ? trainingId : `${trainingId}${EVALUATION}`,
      scope: `training:${trainingId}`,
      answers: new AnswerCache(answers),
      budget: () => ({ ...cast.budget, ...limits() }),
      planner: cast.conductor,
      parallel: config.parallel,
      onWaiting: (message) => report(message === undefined ? WORKING[kind] : { state: 'waiting', message }),
      ...(kind === 'rollout' && { onRollout: told }),
    });
    const profile = profileOf(cast.conductor);
    const rollouts = rolloutsFor('rollout');
    const spent = (): Pick<Training, 'spentUsd' | 'spentTokens' | 'unpricedTokens'> => {
      const { usd, tokens, unpricedTokens } = rollouts.spent;
      return { spentUsd: usd, spentTokens: tokens, unpricedTokens };
    };

    const { adapter } = cast.conductor;
    // More money, or more at once, makes no other training.
    const { budget: _budget, parallel: _parallel, ...learned } = config;
    const configuration = JSON.stringify([learned, cast.pool.map(({ id, model: name }) => [id, name]), cast.conductor.model, adapter, frozen]);
    const store = new TrainingStore(folder.path, { configuration: createHash('sha256').update(configuration).digest('hex') });
    const from = await store.resume();
    await model.startTraining({
      // What the Conductor has learned before is where it goes on.
      adapter: adapter ?? { rank: config.adapter.rank, alpha: config.adapter.alpha, projections: PROJECTIONS, seed: config.seed },
      optimizer: ADAMW_DEFAULTS,
      ...(from && { resume: from.engineState }),
    });
    const engine = new LocalEngine(model, { versions: store.versions, sampler: from ? store.versionName(from.step) : adapter });
    const checkTasks = (): Promise<void> => checkUnchanged(workspace, frozen.project);
    const gatherer = new RolloutGatherer({ rollouts, checkTasks, pool: cast.pool, profile, poolSizes: config.poolSizes, seed: config.seed });
    // Everybody is on offer, which no prompt of the training is longer than.
    const wholePool = new RolloutGatherer({ rollouts: rolloutsFor('evaluation'), checkTasks, pool: cast.pool, profile, seed: config.seed });
    const fits = await readable(model, (task) => wholePool.prompt(task, { step: 0, place: 0 }), config.maxTokens);
    const [train, heldOut] = [await fits(found.train), await fits(found.heldOut)];
    if (train.length === 0) {
      throw new TrainingError('Every task is too long for the Conductor to read with room for a plan: choose a model that reads more, or smaller files.');
    }
    if (heldOut.length === 0 && config.tasks.heldOut > 0) throw nothingHeldOut();
    await change({ tasks: { train: train.length, heldOut: heldOut.length }, making: null });
    const { step: done = 0, metrics = [] } = from ?? {};
    const tooLong = found.train.length + found.heldOut.length - train.length - heldOut.length;
    const message = tooLong === 0 ? {} : { message: `${WORKING.rollout.message} ${counted(tooLong, 'task')} too long for the Conductor to read: left out.` };
    await change({ ...WORKING.rollout, ...message, step: done, progress: null, metrics: { after: 0, told: [...metrics] }, ...spent() });
    if (!finishing) {
      let began = parts.now();
      const durations: number[] = [];
      await trainWithGrpo({
        engine, store, tasks: train, gatherer,
        onGroup: (_step, done) => report({ progress: { done, of: config.tasksPerStep }, ...spent() }),
        onStep: (step, measured) => {
          durations.push((parts.now() - began) / 1_000);
          began = parts.now();
          const secondsPerStep = durations.slice(-5).reduce((sum, one) => sum + one, 0) / Math.min(5, durations.length);
          report({ step, metrics: { after: step - 1, told: [measured] }, secondsPerStep, progress: null, ...spent() });
        },
      }, trainerOptions(config), { from, signal });
    }

    if (heldOut.length > 0) {
      await change({ ...WORKING.evaluation, progress: { done: 0, of: heldOut.length } });
      const { samples } = config.evaluation;
      const current = new LocalEngine(model, { versions: store.versions, sampler: adapter });
      const comparison = await compareConductors(
        {
          tasks: heldOut,
          // Both have the whole pool.
          gatherer: wholePool,
          before: (request) => current.sample(request),
          after: (request) => engine.sample(request),
          onTask: (done, of) => report({ progress: { done, of }, ...spent() }),
        },
        { samples, maxTokens: config.maxTokens, temperature: config.temperature, seed: config.seed },
        signal,
      );
      await change({ comparison, progress: null, ...spent() });
    }
    await change({ state: 'completed', message: endedWell(heldOut.length), progress: null });
  } finally {
    answers.close();
    await close();
  }
}

type Judges = Pick<TrainingRunParts, 'sandboxAvailability' | 'findTestCommands' | 'runnerOf'>;

/** @throws TrainingError where nothing can judge what comes of the plans: without a sandbox, or without tests and tasks. */
export async function requireJudge(parts: Judges, { workspace, config }: Pick<Training, 'workspace' | 'config'>): Promise<void> {
  await requireSandbox(parts, config);
  const { tasks: { file } } = config;
  const hasFile = await access(path.resolve(workspace, file ?? TASKS_FILE)).then(() => true, () => false);
  if (!hasFile && file !== undefined) throw new TrainingError(`The file of tasks ${file} is not in ${workspace}: name another, or none.`, 'tests');
  if (!(await projectTests(parts, { workspace, config })) && !hasFile) throw noJudge();
}

/** What judges tasks of the project; undefined where none are wanted, or it has no tests. @throws TrainingError where their results cannot be read */
async function projectTests(judges: Judges, { workspace, config: { tasks: { project, test, image } } }: Pick<Training, 'workspace' | 'config'>): Promise<JudgingCommand | undefined> {
  if (!project) return undefined;
  try {
    return await judgingCommand({ workspace, testCommand: test?.command, testRunner: test?.runner, testReports: test?.reports, testImage: image }, judges);
  } catch (error) {
    throw error instanceof RunError ? new TrainingError(error.message, 'tests') : error;
  }
}

async function requireSandbox({ sandboxAvailability }: Pick<Judges, 'sandboxAvailability'>, { tasks: { image } }: TrainingConfig): Promise<void> {
  const { available, reason = 'none can be had here.' } = await sandboxAvailability(image);
  if (!available) throw new TrainingError(`Training runs code that models write, and there is no sandbox for it: ${reason}`, 'sandbox');
}

/** Said before a worker is paid: what is learned would be compared with nothing, and never be adopted. */
const nothingHeldOut = (): TrainingError => new TrainingError(
  'No task is held out, so what is learned could not be compared, nor adopted: add tasks to conductor.tasks.jsonl, or tests for more of the project\'s files.',
);

const noJudge = (): TrainingError =>
  new TrainingError('No tests were found in the project, and no tasks beside it: without a judge there is nothing to learn from.', 'tests');

/** A short plan; longer ones that do not fit are cut off and earn nothing. */
const ROOM_FOR_A_PLAN = 256;

/** Picks the tasks whose prompts leave room for a plan in what a model can read. */
async function readable(model: TrainableModel, promptOf: (task: Task) => ConductorPrompt, maxTokens: number) {
  const { contextLength } = await model.describe();
  const room = Math.min(maxTokens, ROOM_FOR_A_PLAN);
  return async (tasks: readonly Task[]): Promise<Task[]> => {
    const short: Task[] = [];
    for (const task of tasks) if (await model.countTokens(promptOf(task)) + room <= contextLength) short.push(task);
    return short;
  };
}

const WORKING = {
  rollout: { state: 'training', message: 'Training.' },
  evaluation: { state: 'evaluating', message: 'Comparing on held-out tasks.' },
} as const;

const endedWell = (heldOut: number): string => (heldOut > 0
  ? 'Trained. Look at the comparison, and adopt what was trained if you like it.'
  : 'Trained, but there was no held-out task to compare on: it is not offered.');

function trainerOptions(config: TrainingConfig): GrpoTrainerOptions {
  const { steps, tasksPerStep, groupSize, rounds, maxTokens, seed, learningRate, loss, temperature, reward, revisionWeight, maskTruncated, gradientClip } = config;
  return {
    steps, tasksPerStep, groupSize, rounds, maxTokens, seed, learningRate,
    loss: { ...loss, temperature, maxCompletionLength: maxTokens },
    reward, revisionWeight, maskTruncated, gradientClip,
    advantage: { scale: config.advantage },
  };
}

async function freezeTasks(parts: TrainingRunParts, { training: { config, workspace }, folder, signal, change, report }: TrainingRunOptions): Promise<FrozenTasks> {
  const { count, heldOut, kinds } = config.tasks;
  const file = await freezeFile(workspace, config);
  const frozen: FrozenTasks = { project: [], ...(file && { file }) };
  const test = await projectTests(parts, { workspace, config });
  if (test) {
    await change({ state: 'preparing', message: 'Making tasks of the project and having its tests admit them.' });
    const decisions = new DecisionKeeper(folder);
    const durations: number[] = [];
    const made = await makeProjectTasks({
      ...parts, workspace, test, signal,
      onHistory: (message) => report({ message }),
      onDecided: (decision) => decisions.decided(decision),
      known: await folder.tried(),
      onFound: (found) => folder.keepTried(found),
      onTried: ({ tried, candidates, admitted, seconds }) => {
        decisions.untried(candidates - tried);
        if (seconds !== undefined) durations.push(seconds);
        const secondsLeft = secondsToPrepare({ tried, candidates, admitted, count, durations });
        const making = { tried, of: candidates, ...decisions.counts, ...(secondsLeft !== undefined && { secondsLeft }) };
        const tell = (): void =>
          report({ message: `Making tasks of the project: ${admitted} admitted.`, progress: { done: tried, of: candidates }, making });
        // Who looks at the tasks asks for them again when told of this: by then they have to be there.
        void decisions.kept().then(tell, tell);
      },
    }, { seed: config.seed, count, heldOut, kinds }).finally(() => decisions.kept());
    frozen.test = test;
    frozen.project.push(...made);
  } else if (!file) {
    throw noJudge();
  }
  await folder.saveTasks(frozen);
  await folder.forgetTried();
  return frozen;
}

/** How long it takes until enough candidates are admitted, or all are tried, if it goes on as it went; undefined before the first. */
function secondsToPrepare({ tried, candidates, admitted, count, durations }: {
  readonly tried: number; readonly candidates: number; readonly admitted: number; readonly count: number; readonly durations: readonly number[];
}): number | undefined {
  if (durations.length === 0) return undefined;
  const triesLeft = Math.min(candidates - tried, admitted === 0 ? Infinity : (count - admitted) * (tried / admitted));
  return (triesLeft * durations.reduce((sum, one) => sum + one, 0)) / durations.length;
}

async function freezeFile(workspace: string, { tasks: { file: named, heldOut }, seed }: TrainingConfig): Promise<FrozenTasks['file']> {
  const file = path.resolve(workspace, named ?? TASKS_FILE);
  if (named === undefined && !(await access(file).then(() => true, () => false))) return undefined;
  const ids: string[] = [];
  for await (const { id } of readTasks(file)) ids.push(id);
  const isHeldOut = (id: string): boolean => draw(seed, 'held out', id) / 2 ** 48 < heldOut;
  return { path: file, sha256: await hashOf(file), train: ids.filter((id) => !isHeldOut(id)), heldOut: ids.filter(isHeldOut) };
}

const hashOf = async (file: string): Promise<string> => createHash('sha256').update(await readFile(file)).digest('hex');

async function tasksOf(parts: TrainingRunParts, { project, test, file }: FrozenTasks, workspace: string): Promise<{ train: Task[]; heldOut: Task[] }> {
  const tasks = { train: [] as Task[], heldOut: [] as Task[] };
  if (test) {
    const { verifier, sandboxAvailability } = parts;
    const { command: line, runner, reports, image } = test;
    const command = { command: line, runner, ...(reports !== undefined && { reports }), ...(image !== undefined && { image }) };
    for (const record of project) {
      const task = projectTask(record, { verifier, sandboxAvailability, workspace, test: command });
      (record.split === 'train' ? tasks.train : tasks.heldOut).push(task);
    }
  }
  if (file) {
    if ((await hashOf(file.path).catch(() => undefined)) !== file.sha256) {
      throw new TrainingError(`${file.path} has changed since this training began: begin another training, or restore the file.`);
    }
    const [train, heldOut] = [new Set(file.train), new Set(file.heldOut)];
    for await (const { id, question, grader: spec } of readTasks(file.path)) {
      const grader: Grader = createGrader(spec, parts.graderTools);
      const task: Task = { id, question, context: '', grader };
      if (train.has(id)) tasks.train.push(task);
      else if (heldOut.has(id)) tasks.heldOut.push(task);
    }
  }
  return tasks;
}
