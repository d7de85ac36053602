import { createHash } from 'node:crypto';
import { counted } from '../../common/counted.ts';
import { profileOf } from '../../conductor/prompt-profile.ts';
import { comparisonVerdict, NO_BETTER_ON_THE_WAY, onTheWay } from '../../protocol/comparison-words.ts';
import { flatMessage, flatStepsOf, type FlatSteps, type TaughtSteps } from '../../protocol/flat-steps.ts';
import { someCarriedOut } from '../../protocol/training-facts.ts';
import type { Training, TrainingChange, TrainingConfig } from '../../protocol/training.ts';
import type { WorkerConfig } from '../../protocol/worker-config.ts';
import { AnswerCache } from '../../workers/answer-cache.ts';
import type { TrainEngine } from '../engines/engine.ts';
import { openEngine } from '../engines/open-engine.ts';
import { CheckpointStore, type TrainingCheckpoint } from '../grpo/checkpoint-store.ts';
import type { StepMetrics } from '../grpo/grpo-step.ts';
import { type GrpoTrainerOptions, trainWithGrpo } from '../grpo/grpo-trainer.ts';
import { AnswerFile } from '../rollouts/answer-file.ts';
import { OutcomeCritic } from '../rollouts/outcome-critic.ts';
import { RolloutGatherer } from '../rollouts/rollout-gatherer.ts';
import { type RolloutProgress, RolloutRunner } from '../rollouts/rollout-runner.ts';
import { rolloutLine } from '../rollouts/rollout-views.ts';
import { tellingPlans } from '../rollouts/telling-plans.ts';
import type { Task } from '../tasks/task.ts';
import { lookOf } from './compare.ts';
import { engineAccount } from './engine-account.ts';
import { freezeTasks, tasksOf, type SplitTasks } from './frozen-tasks.ts';
import { HeldOutLooks, isLookDue, type Seen } from './held-out-looks.ts';
import { requireSandbox } from './judge.ts';
import { rateOf } from './learning-rates.ts';
import { isMember, openTeam, type Team } from './open-team.ts';
import { policyLossOf } from './policy-loss.ts';
import { TrainingError } from './training-error.ts';
import type { FrozenTasks } from './tasks-folder.ts';
import type { TrainingRunOptions, TrainingRunParts } from './training-parts.ts';
import { poolWith } from './worker-settings.ts';

/** The runs of a training's comparison have the training's id with this suffix as their parent. */
export const EVALUATION = '.evaluation';

/**
 * Runs one training, from its tasks to what held-out tasks tell of it beside the Conductor before. Goes on where an earlier process stopped: with the same
 * tasks, the same draws, and the answers that workers gave already.
 * @throws TrainingError, what its parts throw, the signal's reason
 */
export async function runTraining(parts: TrainingRunParts, options: TrainingRunOptions): Promise<void> {
  const { training: { config, trainingId }, folder, cast, keys, limits } = options;
  await requireSandbox(parts, config);
  const frozen = (await folder.tasks()) ?? (await freezeTasks(parts, options));
  const tasks = await tasksOf(parts, frozen, options);
  if (tasks.train.length === 0) throw new TrainingError('There is no task to train on: the project\'s tests notice too little, and no task file has any.');

  const trainsWeights = config.train === 'weights';
  const store = new CheckpointStore(folder.path, { configuration: configurationOf(options, frozen), ...(trainsWeights && { kept: 1 }) });
  if (trainsWeights) await requireWeights(parts, options, store);
  const from = await store.resume();
  const answers = new AnswerFile(folder.answers);
  try {
    const { engine, shared, close } = await openEngine(parts, {
      config, keys, conductor: cast.conductor, versions: store.versions, samplesOnly: isMember(config), signal: options.signal,
      pay: engineAccount({ journal: parts.journal, trainingId, scope: scopeOf(trainingId), limitUsd: () => limits().usd }),
      ...(from && { from: { version: store.versionName(from.step), engineState: from.engineState } }),
    });
    let team: Team | undefined;
    try {
      team = await openTeam(parts, options, { shared, from });
      const isKnown = await trainAndCompare({ ...parts, tasks, engine, store, from, team, answers: new AnswerCache(answers) }, options);
      // More tries may tell later; they need the files.
      if (isKnown) await folder.forgetFiles();
      // A whole model with its optimizer, from which nothing goes on.
      if (isKnown && trainsWeights) await store.forget();
    } finally {
      await team?.close();
      await close();
    }
  } finally {
    answers.close();
  }
}

/** @throws TrainingError where the machine has less room by now than when the training was begun */
async function requireWeights({ weightsTraining }: TrainingRunParts, { cast: { conductor } }: TrainingRunOptions, store: CheckpointStore): Promise<void> {
  const { problem } = await weightsTraining(conductor, await store.bytes());
  if (problem !== undefined) throw new TrainingError(`All weights cannot be trained now: ${problem}. Make room, then resume the training.`);
}

/** The budget's scope for everything that a training costs. */
const scopeOf = (trainingId: string): string => `training:${trainingId}`;

/** A digest of everything that decides what is learned. Limits and the number of rollouts under way do not, and the engine is fixed anyway. */
function configurationOf({ training: { config }, cast: { conductor, pool } }: TrainingRunOptions, frozen: FrozenTasks): string {
  const { budget: _budget, parallel: _parallel, engine: _engine, team: _team, sharedSteps: _shared, carriedOut: _carried, unpaidUpdates, updates, train, evaluation: { samples }, ...learned } = config;
  const carriedOut = someCarriedOut(config);
  // Trainings of an earlier version have one update a batch, carry out all plans and train an adapter, and no such settings nor that of shared steps. They go on. What the comparison does is not learned from.
  const digested = { ...learned, ...(carriedOut !== undefined && { carriedOut, unpaidUpdates }), ...(train === 'weights' && { train }), evaluation: { samples } };
  const text = JSON.stringify([updates === 1 ? digested : { ...digested, updates }, pool.map(({ id, model }) => [id, model]), conductor.model, conductor.adapter, frozen, ...(conductor.weights === undefined ? [] : [conductor.weights])]);
  return createHash('sha256').update(text).digest('hex');
}

interface OpenedParts extends TrainingRunParts {
  readonly tasks: SplitTasks;
  readonly engine: TrainEngine;
  readonly store: CheckpointStore;
  readonly from: TrainingCheckpoint | undefined;
  readonly team: Team | undefined;
  readonly answers: AnswerCache;
}

/** @returns whether there is nothing more to find out */
async function trainAndCompare(parts: OpenedParts, options: TrainingRunOptions): Promise<boolean> {
  const { tasks: found, engine, store, from, team, now } = parts;
  const { training: { config, finishing = false, mostTries = config.evaluation.samples }, cast: { conductor, pool }, signal, change, report } = options;
  const { step: done = 0, metrics = [] } = from ?? {};
  const steps = [...metrics];
  let tooLong = 0;
  let isComparing = false;
  let unpaid: UnpaidUpdate | undefined;
  let seen = (): Seen | undefined => undefined;
  const training = (): Working => ({ state: 'training', message: trainingMessage({ metrics: steps, pool }, { tooLong, seen: seen(), unpaid }) });
  const rollouts = runnerFor('rollout', parts, options, training, (progress) =>
    report({ rollouts: { step: progress.at.step + 1, list: [rolloutLine(progress, config.reward)] }, ...spent() }));
  const spent = (): Pick<Training, 'spentUsd' | 'spentTokens' | 'unpricedTokens'> => {
    const { usd, tokens, unpricedTokens } = rollouts.spent;
    return { spentUsd: usd, spentTokens: tokens, unpricedTokens };
  };
  const shared = { profile: profileOf(conductor), seed: config.seed };
  const plansGatherer = new RolloutGatherer({ ...shared, pool: poolWith(pool, config.workers), rollouts, poolSizes: config.poolSizes });
  const gatherer = tellingPlans(plansGatherer);
  // Where all plans are carried out nothing is expected of any.
  const critic = someCarriedOut(config) === undefined
    ? undefined : new OutcomeCritic({ profile: shared.profile, poolOf: (at) => plansGatherer.poolOf(at), passes: config.reward.passes, judged: from?.judged });
  const compared = { ...shared, pool: poolWith(pool, config.evaluation.workers), rollouts: runnerFor('evaluation', parts, options, () => (isComparing ? COMPARING : training())) };
  // With the whole pool on offer; no prompt of the training is longer.
  const wholePool = new RolloutGatherer(compared);
  // The two tries of a pair have the same pool on offer.
  const heldOutPools = new RolloutGatherer({ ...compared, poolSizes: config.poolSizes, drawnFor: lookOf });

  const room = Math.min(config.maxTokens, ROOM_FOR_A_PLAN);
  const readable = async (tasks: readonly Task[]): Promise<Task[]> => {
    const short: Task[] = [];
    for (const task of tasks) if (await engine.hasRoom(wholePool.prompt(task, { step: 0, place: 0 }), room)) short.push(task);
    return short;
  };
  const [train, heldOut] = [await readable(found.train), await readable(found.heldOut)];
  if (train.length === 0) {
    throw new TrainingError('Every task is too long for the Conductor to read with room for a plan: choose a model with a longer context, or smaller files.');
  }
  if (heldOut.length === 0 && config.tasks.heldOut > 0) throw nothingHeldOut();
  await change({ tasks: { train: train.length, heldOut: heldOut.length }, making: null });
  tooLong = found.train.length + found.heldOut.length - train.length - heldOut.length;
  const looks: HeldOutLooks<Task> = new HeldOutLooks({
    tasks: heldOut, gatherer: heldOutPools,
    before: (request) => engine.sample({ ...request, version: 'initial' }),
    after: (request) => engine.sample(request),
    triesOf: (task) => ('base' in task ? { ...config.evaluation, rounds: config.evaluation.rounds ?? 1 } : ONE_PLAN),
  }, {
    looks: options.training.looks ?? [], maxTokens: config.maxTokens, temperature: config.temperature, seed: config.seed, signal,
    save: (taken) => change({ looks: [...taken], ...(isComparing && { comparison: looks.comparison() }), ...spent() }),
  });
  seen = () => looks.seen(steps.length);
  await change({ ...training(), step: done, progress: null, metrics: { after: 0, told: steps.slice() }, ...spent() });

  let hasLearned = true;
  if (!finishing) {
    let began = now();
    const durations: number[] = [];
    const gathering = {
      engine, store, tasks: train, gatherer, critic,
      onGroup: (_step: number, groups: number) => report({ progress: { done: groups, of: config.tasksPerStep }, ...spent() }),
      onStep: (step: number, measured: StepMetrics) => {
        unpaid = undefined;
        durations.push((now() - began) / 1_000);
        began = now();
        const secondsPerStep = durations.slice(-5).reduce((sum, one) => sum + one, 0) / Math.min(5, durations.length);
        const after = steps.length;
        // A member may have taken no part in some.
        while (steps.length < step - 1) steps.push({});
        steps.push(measured);
        report({ ...training(), step, metrics: { after, told: steps.slice(after) }, secondsPerStep, progress: null, ...spent() });
      },
    };
    team?.waiting((reason) => report(reason === undefined ? training() : { state: 'waiting', message: reason }));
    if (team?.contribute) {
      ({ hasLearned } = await team.contribute(gathering, trainerOptions(config, conductor)));
      // The coordinator may be gone by the time that more tries are asked for.
      await change({ finishing: true });
    } else await trainWithGrpo({
      ...gathering, givers: team?.givers,
      goesOn: async (step) => {
        if (!isLookDue(step, heldOut.length, config)) return true;
        await looks.onTheWay(step);
        report(training());
        began = now();
        return (seen()?.comparison.says ?? 'not-known') === 'not-known';
      },
      onUnpaid: (update, of) => {
        unpaid = { update, of };
        report(training());
      },
    }, trainerOptions(config, conductor), { from, signal });
  }
  const flat = flatStepsOf({ metrics: steps, pool });
  const isFlat = flat !== undefined && flat.flat === flat.of;
  team?.end?.(steps.length, { hasLearned: !isFlat });
  if (isFlat || !hasLearned || (team?.contribute && steps.length === 0)) {
    await change({ state: 'completed', learned: false, message: isFlat ? nothingLearned(flat) : TEAM_LEARNED_NOTHING, progress: null });
    return true;
  }
  await team?.bringHome?.(engine, store, steps.length);
  await engine.saveTrained?.(store.versionName(steps.length));
  if (heldOut.length === 0) {
    await change({ state: 'completed', message: NOT_COMPARED, progress: null });
    return true;
  }
  const last = seen();
  if (!finishing && last?.comparison.says === 'not-better') {
    await change({ state: 'completed', comparison: last.comparison, message: NO_BETTER_ON_THE_WAY, progress: null });
    return true;
  }
  isComparing = true;
  const of = mostTries * heldOut.length;
  let pairs = looks.tried();
  await change({ ...COMPARING, progress: { done: pairs, of } });
  const comparison = await looks.untilKnown(steps.length, mostTries, () => report({ progress: { done: Math.min(pairs += 1, of), of }, ...spent() }));
  await change({ state: 'completed', comparison, message: comparisonVerdict(comparison), progress: null });
  return comparison.says !== 'not-known';
}

function runnerFor(
  kind: 'rollout' | 'evaluation', parts: OpenedParts, { training: { trainingId, config }, keys, limits, cast, report }: TrainingRunOptions,
  working: () => Working, onRollout?: (progress: RolloutProgress) => void,
): RolloutRunner {
  return new RolloutRunner({
    ...parts, keys, kind, onRollout,
    name: kind === 'rollout' ? trainingId : `${trainingId}${EVALUATION}`,
    scope: scopeOf(trainingId),
    budget: () => ({ ...cast.budget, ...limits() }),
    planner: cast.conductor,
    parallel: config.parallel,
    // Never in a comparison: its pairs have to be independent of each other.
    ...(kind === 'rollout' && config.sharedSteps && { sharedAnswers: config.groupSize }),
    ablations: config.ablations,
    onWaiting: (reason) => report(reason === undefined ? working() : { state: 'waiting', message: reason }),
  });
}

/** Where nothing could judge an answer before it is given, a person gets the first one. */
const ONE_PLAN = { rounds: 1, attempts: 1 } as const;

/** Tokens for a short plan. A longer plan that does not fit is cut off and has no reward. */
const ROOM_FOR_A_PLAN = 256;

type Working = Required<Pick<TrainingChange, 'state' | 'message'>>;

const COMPARING = { state: 'evaluating', message: 'Comparing on held-out tasks.' } as const;

interface UnpaidUpdate {
  readonly update: number;
  readonly of: number;
}

function trainingMessage(training: TaughtSteps, { tooLong, seen, unpaid }: { readonly tooLong: number; readonly seen: Seen | undefined; readonly unpaid: UnpaidUpdate | undefined }): string {
  const flat = flatStepsOf(training);
  return [
    'Training.',
    ...(unpaid ? [`The step's plans are judged; update ${unpaid.update} of ${unpaid.of} that costs nothing is under way.`] : []),
    ...(tooLong > 0 ? [`${counted(tooLong, 'task')} too long for the Conductor to read: left out.`] : []),
    ...(flat ? [flatMessage(flat)] : []),
    ...(seen ? [onTheWay(seen.comparison, seen)] : []),
  ].join(' ');
}

const nothingLearned = (flat: FlatSteps): string => `Nothing was learned, so there is nothing to adopt. ${flatMessage(flat)}`;
const TEAM_LEARNED_NOTHING = 'The team learned nothing, so there is nothing to adopt.';
const NOT_COMPARED = 'Trained, but there was no held-out task to compare on: it cannot be adopted.';

/** Thrown before a worker is paid: without a comparison nothing can be adopted. */
const nothingHeldOut = (): TrainingError => new TrainingError(
  'No task is held out, so what is learned could not be compared, nor adopted: add tasks to conductor.tasks.jsonl, or tests for more of the project\'s files.',
);

function trainerOptions(config: TrainingConfig, conductor: WorkerConfig): GrpoTrainerOptions {
  const { steps, tasksPerStep, groupSize, rounds, maxTokens, seed, reward, revisionWeight, updates, maskTruncated, gradientClip } = config;
  return {
    steps, tasksPerStep, groupSize, rounds, maxTokens, seed,
    carriedOut: someCarriedOut(config),
    // Each would wait for a server to save and hand over weights.
    unpaidUpdates: config.engine === 'local' ? config.unpaidUpdates : 0,
    learningRate: rateOf(config, conductor, 'plans'),
    loss: policyLossOf(config),
    reward, revisionWeight, updates, maskTruncated, gradientClip,
    advantage: { scale: config.advantage },
  };
}
