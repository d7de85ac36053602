import { randomBytes } from 'node:crypto';
import { SerialQueue } from '../../common/serial-queue.ts';
import { canGoOnComparing, isTrainingOver } from '../../protocol/training-facts.ts';
import type { OutcomesCheck } from '../../protocol/learning.ts';
import { trainingConfigSchema, type TaskNotes, type Training, type TrainingCheck, type TrainingConfig, type TrainingLimits, type WholeRollout } from '../../protocol/training.ts';
import type { WorkerConfig, WorkersFile } from '../../protocol/worker-config.ts';
import { wholeRollout } from '../rollouts/rollout-views.ts';
import { engineProblem, engineTerms } from '../engines/open-engine.ts';
import { Adoption, type AdoptionOptions } from './adoption.ts';
import { checkOutcomes } from './freeze-outcomes.ts';
import { TeamError } from '../team/team-error.ts';
import { teamProblem, teamTerms } from '../team/team-words.ts';
import { joinedConfig } from './joined-team.ts';
import { requireJudge } from './judge.ts';
import { knownWith } from './learned-outcomes.ts';
import { rateOf } from './learning-rates.ts';
import { EVALUATION } from './run-training.ts';
import { taskNotesOf } from './task-notes.ts';
import { castToBegin, type TrainingCast, type TrainingCastSources } from './training-cast.ts';
import { Cancelled, Interrupted, Paused } from './stop-reasons.ts';
import { trainedPart } from './trained-part.ts';
import { TrainingDriver } from './training-driver.ts';
import { TrainingError, TrainingRefusedError } from './training-error.ts';
import type { TrainingRunParts } from './training-parts.ts';
import { TrainingRegistry, type RemovalListener, type TrainingListener } from './training-registry.ts';
import { poolWith } from './worker-settings.ts';

export interface TrainingManagerOptions extends TrainingCastSources {
  /** The folders (absolute) that hold one folder per training, and what was adopted. */
  readonly trainings: string;
  readonly adapters: string;
  readonly parts: TrainingRunParts;
  readonly changeWorkers: (change: (file: WorkersFile) => WorkersFile) => Promise<unknown>;
  /** See `AdoptionOptions`. */
  readonly rollOut?: AdoptionOptions['rollOut'];
  readonly withdraw?: AdoptionOptions['withdraw'];
  /** For unexpected errors. */
  readonly log: (message: string) => void;
}

export interface TrainingRequest {
  /** Absolute. */
  readonly workspace: string;
  readonly config: TrainingConfig;
}

const DEFAULTS = trainingConfigSchema.parse({});
/** What was logged is learned many times over: without it, a Conductor forgets how to write valid plans (docs/learn.md). */
const LEARNING_DIVERGENCE = 0.05;
const NO_VERDICTS = { verified: 0, other: 0 };

/** The commands on all trainings of this process, of which one is under way at a time. */
export class TrainingManager {
  readonly #options: TrainingManagerOptions;
  readonly #registry: TrainingRegistry;
  readonly #driver: TrainingDriver;
  readonly #adoption: Adoption;
  /** Commands run one after another: what one has checked, no other changes before it acts. */
  readonly #commands = new SerialQueue();
  readonly #opened = Promise.withResolvers<void>();

  constructor(options: TrainingManagerOptions) {
    const { trainings, parts: { now, baseOf } } = options;
    this.#options = options;
    this.#registry = new TrainingRegistry(trainings, now);
    this.#driver = new TrainingDriver({ ...options, registry: this.#registry });
    this.#adoption = new Adoption({ ...options, registry: this.#registry, baseOf });
  }

  /** Reads what earlier processes left; what was under way goes on. */
  async open(): Promise<void> {
    try {
      await this.#commands.run(async () => {
        for (const training of await this.#registry.load()) {
          if (!isTrainingOver(training.state) && training.state !== 'paused') this.#driver.drive(training, { patient: true });
        }
      });
    } finally {
      this.#opened.resolve();
    }
  }

  /** Resolves when what earlier processes left has been read. */
  get opened(): Promise<void> {
    return this.#opened.promise;
  }

  /** Who would take part, or the first thing that is missing. Starts nothing. */
  async check(request: TrainingRequest): Promise<TrainingCheck> {
    try {
      const cast = await castToBegin(this.#options);
      const { conductor, pool } = cast;
      const config = await this.#joined(request.config, conductor);
      refuseEngine(config, conductor);
      const trained = await trainedPart(config, cast, this.#options.parts);
      await requireJudge(this.#options.parts, request);
      const workers = pool.map(({ id, price, simulated }) => ({ id, priced: price !== undefined, simulated }));
      const terms = [...engineTerms(config), ...teamTerms(config), ...trained.terms];
      return { conductor: conductor.id, workers, ...(terms.length > 0 && { terms }), ...(config !== request.config && { config }) };
    } catch (error) {
      if (!(error instanceof TrainingError) || error.missing === undefined) throw error;
      return { missing: { what: error.missing, message: error.message }, workers: [] };
    }
  }

  /** @throws TrainingRefusedError, TrainingError */
  async start(request: TrainingRequest): Promise<Training> {
    const cast = await castToBegin(this.#options);
    const joined = await this.#joined(request.config, cast.conductor);
    const { workers, evaluation } = joined;
    refuseEngine(joined, cast.conductor);
    for (const settings of [workers, evaluation.workers]) poolWith(cast.pool, settings);
    const base = await this.#options.parts.baseOf?.(cast.conductor);
    const { train } = await trainedPart(joined, cast, this.#options.parts);
    const config = { ...joined, train, learningRate: rateOf({ ...joined, train }, cast.conductor, 'plans') };
    const training = newTraining({ ...request, config }, cast, { base, now: this.#options.parts.now() });
    return this.#commands.run(async () => {
      this.#driver.refuseSecond();
      await this.#registry.add(training);
      this.#driver.drive(training, { patient: false });
      return training;
    });
  }

  /** What the journal has to learn from, and who would learn. Starts nothing. @param workspace of this project alone (absolute path) */
  async checkOutcomes(workspace: string | undefined): Promise<OutcomesCheck> {
    const { parts, adapters } = this.#options;
    try {
      const { conductor, pool } = await castToBegin(this.#options);
      const known = await knownWith(conductor.adapter, { adapters, trainings: this.#registry.list() });
      return { conductor: conductor.id, ...await checkOutcomes(parts, { workspace, conductor, pool, known }, DEFAULTS.reward) };
    } catch (error) {
      if (!(error instanceof TrainingError) || error.missing === undefined) throw error;
      return { missing: error.message, own: 0, learned: NO_VERDICTS, heldOut: NO_VERDICTS, leftOut: [], canTell: false };
    }
  }

  /** Starts a training that learns from the outcomes in the journal; nobody is paid. @throws TrainingRefusedError, TrainingError */
  async learn(workspace: string | undefined): Promise<Training> {
    const cast = await castToBegin(this.#options);
    const config = { ...DEFAULTS, learningRate: rateOf(DEFAULTS, cast.conductor, 'outcomes'), loss: { ...DEFAULTS.loss, divergence: LEARNING_DIVERGENCE } };
    const base = await this.#options.parts.baseOf?.(cast.conductor);
    const training = { ...newTraining({ workspace: workspace ?? '', config }, cast, { base, now: this.#options.parts.now() }), learnsFrom: 'outcomes' as const, simulated: false };
    return this.#commands.run(async () => {
      this.#driver.refuseSecond();
      await this.#registry.add(training);
      this.#driver.drive(training, { patient: false });
      return training;
    });
  }

  /** Newest first. */
  list(workspace?: string): readonly Training[] {
    return this.#registry.list(workspace);
  }

  /** @throws TrainingRefusedError */
  get(trainingId: string): Training {
    return this.#registry.get(trainingId);
  }

  /** Its tasks and those that were left out, with the reasons: `limit` of them from `offset` on. @throws TrainingRefusedError */
  async tasks(trainingId: string, { offset, limit }: { readonly offset: number; readonly limit: number }): Promise<TaskNotes> {
    this.get(trainingId);
    return taskNotesOf(this.#registry.folder(trainingId), { offset, limit });
  }

  /** @throws TrainingRefusedError */
  rollout(trainingId: string, runId: string): WholeRollout {
    this.get(trainingId);
    const run = runId.startsWith(`${trainingId}.`) ? this.#options.parts.journal.snapshot(runId) : undefined;
    if (!run) throw new TrainingRefusedError(`The training "${trainingId}" has no rollout "${runId}".`);
    return wholeRollout(run);
  }

  /** Stops immediately. The step under way is repeated on resume, with the answers that its workers gave already. @throws TrainingRefusedError */
  pause(trainingId: string): Promise<void> {
    return this.#commands.run(async () => {
      this.get(trainingId);
      await this.#driver.stop(trainingId, new Paused());
    });
  }

  /** For good. What it learned so far stays in its folder. @throws TrainingRefusedError */
  cancel(trainingId: string): Promise<void> {
    return this.#commands.run(async () => {
      const { state } = this.get(trainingId);
      if (this.#driver.isActive(trainingId)) await this.#driver.stop(trainingId, new Cancelled());
      else if (!isTrainingOver(state)) await this.#registry.change(trainingId, { state: 'cancelled', message: 'Cancelled.', progress: null });
    });
  }

  /**
   * `budget`: new limits; they also apply to a training that is under way. Where all tries of held-out tasks did not tell whether it is better,
   * it gets as many again. @throws TrainingRefusedError
   */
  resume(trainingId: string, budget: TrainingLimits = {}): Promise<void> {
    return this.#commands.run(async () => {
      const { state, config, mostTries = config.evaluation.samples, ...rest } = this.get(trainingId);
      const mayTell = canGoOnComparing({ state, ...rest });
      if ((state === 'completed' && !mayTell) || state === 'cancelled') throw isOver(trainingId);
      const isActive = this.#driver.isActive(trainingId);
      if (!isActive) this.#driver.refuseSecond();
      const training = await this.#registry.change(trainingId, { config: { ...config, budget: { ...config.budget, ...budget } }, ...(mayTell && { mostTries: mostTries + config.evaluation.samples }) });
      if (!isActive) this.#driver.drive(training, { patient: false });
    });
  }

  /** Ends it after the steps that are done: what it has learned so far is compared, and can be adopted. @throws TrainingRefusedError */
  finish(trainingId: string): Promise<void> {
    return this.#commands.run(async () => {
      const { state, step, tasks, learnsFrom } = this.get(trainingId);
      if (learnsFrom === 'outcomes') throw new TrainingRefusedError('It learns from the journal, which takes little time: let it run to its end.');
      if (isTrainingOver(state) && state !== 'failed') throw isOver(trainingId);
      if (step === 0) throw new TrainingRefusedError('No step is done yet, so there is nothing to compare.');
      if (tasks.heldOut === 0) throw new TrainingRefusedError('No task is held out to compare on.');
      if (state === 'evaluating') return;
      // It is not paused in between, so clients keep following it.
      if (this.#driver.isActive(trainingId)) await this.#driver.stop(trainingId, new Interrupted());
      else this.#driver.refuseSecond();
      if (this.get(trainingId).state === 'completed') return;
      this.#driver.drive(await this.#registry.change(trainingId, { finishing: true }), { patient: false });
    });
  }

  /** Has the Conductor plan with what was trained; what it planned with before is kept. @throws TrainingRefusedError where it is not shown to be better */
  adopt(trainingId: string): Promise<Training> {
    return this.#commands.run(() => this.#adoption.adopt(trainingId));
  }

  /** Has the Conductor plan with the adapter or weights that it had when the training started. @throws TrainingRefusedError */
  goBack(trainingId: string): Promise<Training> {
    return this.#commands.run(() => this.#adoption.goBack(trainingId));
  }

  /**
   * Removes the training and its runs for good. What another training can go back to stays.
   * @throws TrainingRefusedError while it is under way, or the Conductor plans with what it made
   */
  remove(trainingId: string): Promise<void> {
    return this.#commands.run(async () => {
      const { adopted } = this.get(trainingId);
      if (this.#driver.isActive(trainingId)) throw new TrainingRefusedError(`The training "${trainingId}" is under way: cancel it before it is removed.`);
      if (adopted) throw new TrainingRefusedError(`The Conductor plans with what the training "${trainingId}" made: go back before it is removed.`);
      const { journal } = this.#options.parts;
      await this.#registry.remove(trainingId, () => {
        const runs = [trainingId, `${trainingId}${EVALUATION}`].flatMap((parent) => journal.childrenOf(parent));
        // A cancelled training leaves runs that never end.
        journal.remove(runs, { unfinished: true });
      });
      await this.#adoption.forget(trainingId);
    });
  }

  /** Calls `listener` for every change. @returns a function that stops listening */
  listen(listener: TrainingListener): () => void {
    return this.#registry.listen(listener);
  }

  /** @returns a function that stops listening */
  listenForRemovals(listener: RemovalListener): () => void {
    return this.#registry.listenForRemovals(listener);
  }

  /** With what a coordinator tells, where the training is to join one. @throws TrainingRefusedError, TrainingError */
  async #joined(config: TrainingConfig, conductor: WorkerConfig): Promise<TrainingConfig> {
    const { clients, parts: { delay } } = this.#options;
    const { team } = config;
    const problem = teamProblem(config);
    if (problem !== undefined) throw new TrainingRefusedError(problem);
    if (!team || !('join' in team)) return config;
    try {
      return await joinedConfig(config, team, conductor, { clients, delay });
    } catch (error) {
      throw error instanceof TeamError ? new TrainingRefusedError(error.message) : error;
    }
  }

  /** How many are under way. */
  get active(): number {
    return this.#driver.active;
  }

  /** Interrupts what is under way; it goes on when a backend next starts. Never rejects. */
  async close(): Promise<void> {
    await this.#driver.close();
    await this.#registry.written();
  }
}

/** @throws TrainingRefusedError */
function refuseEngine(config: TrainingConfig, conductor: WorkerConfig): void {
  const problem = engineProblem(config, conductor);
  if (problem !== undefined) throw new TrainingRefusedError(problem);
}

const isOver = (trainingId: string): TrainingRefusedError => new TrainingRefusedError(`The training "${trainingId}" is over: start another one.`);

function newTraining(
  { workspace, config }: TrainingRequest, { conductor, pool }: TrainingCast, { base, now }: { readonly base: string | undefined; readonly now: number },
): Training {
  return {
    trainingId: `${now.toString(36)}-${randomBytes(4).toString('hex')}`,
    seq: 0,
    workspace,
    // With its settings in the order in which they are read again: a digest of them tells trainings apart.
    config: trainingConfigSchema.parse(config),
    conductor: conductor.id,
    model: conductor.model,
    ...(base !== undefined && { base }),
    ...(conductor.adapter !== undefined && { adapterBefore: conductor.adapter }),
    ...(conductor.weights !== undefined && { weightsBefore: conductor.weights }),
    pool: pool.map(({ id, model }) => ({ id, model })),
    state: 'preparing',
    message: 'Getting ready.',
    startedAt: now,
    updatedAt: now,
    tasks: { train: 0, heldOut: 0 },
    step: 0,
    metrics: [],
    spentUsd: 0,
    spentTokens: 0,
    unpricedTokens: 0,
    adopted: false,
    simulated: pool.some(({ simulated }) => simulated),
  };
}
