import { randomBytes } from 'node:crypto';
import { cp, mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { applyTrainingEvent, isTrainingOver } from '../../protocol/training-facts.ts';
import type { TaskNotes, Training, TrainingChange, TrainingCheck, TrainingConfig, TrainingEvent, TrainingLimits, WholeRollout } from '../../protocol/training.ts';
import { bundledPlanner, isBundled } from '../../protocol/bundled-conductor.ts';
import type { WorkersFile, WorkerConfig } from '../../protocol/worker-config.ts';
import { SerialQueue } from '../../common/serial-queue.ts';
import type { Clients } from '../../solve/clients.ts';
import { RunKeys, waitingForKey } from '../../solve/run-keys.ts';
import type { KeySource } from '../../workers/key-source.ts';
import { writeAdapterBase } from './adapter-base.ts';
import { TrainingBudgetError } from '../rollouts/rollouts.ts';
import { isStorageProblem, notSaved } from './storage-problem.ts';
import { trainingFolders, TrainingFolder } from './training-folder.ts';
import { wholeRollout } from '../rollouts/rollout-views.ts';
import { EVALUATION, requireJudge, runTraining, TrainingError, type TrainingCast, type TrainingRunParts } from './run-training.ts';
import { castToGoOn } from './training-cast.ts';
import { taskNotesOf } from './training-tasks.ts';

export interface TrainingManagerOptions {
  /** The folder (absolute) that holds one folder a training, and the one with the adapters that were adopted. */
  readonly trainings: string;
  readonly adapters: string;
  readonly parts: TrainingRunParts;
  readonly clients: Clients;
  /** Reads workers.json afresh, and changes it. */
  readonly loadWorkers: () => Promise<WorkersFile>;
  readonly changeWorkers: (change: (file: WorkersFile) => WorkersFile) => Promise<unknown>;
  readonly priced: (worker: WorkerConfig) => WorkerConfig;
  /** Plans where workers.json names nobody. */
  readonly bundledConductor?: WorkerConfig | undefined;
  /** For errors that nobody foresaw. */
  readonly log: (message: string) => void;
}

export interface TrainingRequest {
  /** Absolute. */
  readonly workspace: string;
  readonly config: TrainingConfig;
}

/** There is no such training, or it cannot do what is asked of it now. */
export class TrainingRefusedError extends Error {
  override readonly name = 'TrainingRefusedError';
}

class Paused extends Error {}
class Cancelled extends Error {}
class Stopping extends Error {}

/** Told how a training stands, and by what it has changed; without that where it is only made known. */
export type TrainingListener = (training: Training, event?: TrainingEvent) => void;
/** Told of a training that there is no more. */
export type RemovalListener = (trainingId: string) => void;

interface ActiveTraining {
  readonly controller: AbortController;
  readonly done: Promise<void>;
}

/** All trainings of this process: one at a time, each in a folder of its own, from which it goes on whenever somebody wants. */
export class TrainingManager {
  readonly #options: TrainingManagerOptions;
  readonly #known = new Map<string, Training>();
  readonly #active = new Map<string, ActiveTraining>();
  readonly #listeners = new Set<TrainingListener>();
  readonly #removalListeners = new Set<RemovalListener>();
  /** Commands run one at a time: none acts on a state that another is about to change. */
  readonly #commands = new SerialQueue();
  /** States are written in the order in which they came. */
  readonly #writes = new SerialQueue();
  #isClosed = false;
  readonly #opened = Promise.withResolvers<void>();

  constructor(options: TrainingManagerOptions) {
    this.#options = options;
  }

  /** Reads what earlier processes left; what was under way goes on. */
  async open(): Promise<void> {
    try {
      await this.#commands.run(async () => {
        for (const folder of await trainingFolders(this.#options.trainings)) {
          const training = await folder.training();
          if (!training) continue;
          this.#tell(training);
          if (!isTrainingOver(training.state) && training.state !== 'paused') this.#drive(training, { patient: true });
        }
      });
    } finally {
      this.#opened.resolve();
    }
  }

  /** Resolves once what earlier processes left has been read. */
  get opened(): Promise<void> {
    return this.#opened.promise;
  }

  /** Who would take part, or the first thing that is missing; nothing is begun. */
  async check(request: TrainingRequest): Promise<TrainingCheck> {
    try {
      const { conductor, pool } = await this.#cast();
      await requireJudge(this.#options.parts, request);
      const workers = pool.map(({ id, price, simulated }) => ({ id, priced: price !== undefined, simulated }));
      return { conductor: conductor.id, workers };
    } catch (error) {
      if (!(error instanceof TrainingError) || error.missing === undefined) throw error;
      return { missing: { what: error.missing, message: error.message }, workers: [] };
    }
  }

  /** @throws TrainingRefusedError, TrainingError */
  async start({ workspace, config }: TrainingRequest): Promise<Training> {
    const { conductor, pool } = await this.#cast();
    const base = await this.#options.parts.baseOf?.(conductor);
    const now = this.#options.parts.now();
    const training: Training = {
      trainingId: `${now.toString(36)}-${randomBytes(4).toString('hex')}`,
      seq: 0,
      workspace, config,
      conductor: conductor.id,
      model: conductor.model,
      ...(base !== undefined && { base }),
      ...(conductor.adapter !== undefined && { adapterBefore: conductor.adapter }),
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
    return this.#commands.run(async () => {
      this.#refuseSecond();
      await this.#save(training);
      this.#tell(training);
      this.#drive(training, { patient: false });
      return training;
    });
  }

  /** Newest first. */
  list(workspace?: string): readonly Training[] {
    const all = [...this.#known.values()].filter((training) => workspace === undefined || training.workspace === workspace);
    return all.sort((a, b) => b.startedAt - a.startedAt);
  }

  /** @throws TrainingRefusedError */
  get(trainingId: string): Training {
    const training = this.#known.get(trainingId);
    if (!training) throw new TrainingRefusedError(`There is no training "${trainingId}".`);
    return training;
  }

  /** Its tasks and those that were left out, with the reasons: so many (`limit`) of them from `offset` on. @throws TrainingRefusedError */
  async tasks(trainingId: string, { offset, limit }: { readonly offset: number; readonly limit: number }): Promise<TaskNotes> {
    this.get(trainingId);
    return taskNotesOf(this.#folder(trainingId), { offset, limit });
  }

  /** @throws TrainingRefusedError */
  rollout(trainingId: string, runId: string): WholeRollout {
    this.get(trainingId);
    const run = runId.startsWith(`${trainingId}.`) ? this.#options.parts.journal.snapshot(runId) : undefined;
    if (!run) throw new TrainingRefusedError(`The training "${trainingId}" has no rollout "${runId}".`);
    return wholeRollout(run);
  }

  /** Stops at once; the step under way is done again when it goes on, with what its workers have answered already. */
  pause(trainingId: string): Promise<void> {
    return this.#commands.run(() => this.#stop(trainingId, new Paused()));
  }

  /** For good. What it learned so far stays in its folder. */
  cancel(trainingId: string): Promise<void> {
    return this.#commands.run(async () => {
      const { state } = this.get(trainingId);
      if (this.#active.has(trainingId)) await this.#stop(trainingId, new Cancelled());
      else if (!isTrainingOver(state)) await this.#change(trainingId, { state: 'cancelled', message: 'Cancelled.', progress: null });
    });
  }

  /** `budget`: what it is held by from now on; one that is under way goes on with it. @throws TrainingRefusedError */
  resume(trainingId: string, budget: TrainingLimits = {}): Promise<void> {
    return this.#commands.run(async () => {
      const { state, config } = this.get(trainingId);
      if (state === 'completed' || state === 'cancelled') throw new TrainingRefusedError(`The training "${trainingId}" is over: begin another one.`);
      const isActive = this.#active.has(trainingId);
      if (!isActive) this.#refuseSecond();
      const training = await this.#change(trainingId, { config: { ...config, budget: { ...config.budget, ...budget } } });
      if (!isActive) this.#drive(training, { patient: false });
    });
  }

  /** Ends it after the steps that are done: what it has learned by then is compared, and offered. @throws TrainingRefusedError */
  finish(trainingId: string): Promise<void> {
    return this.#commands.run(async () => {
      const { state, step, tasks, comparison } = this.get(trainingId);
      if (isTrainingOver(state) && state !== 'failed') throw new TrainingRefusedError(`The training "${trainingId}" is over: begin another one.`);
      if (step === 0) throw new TrainingRefusedError('No step is done yet, so there is nothing to compare.');
      if (tasks.heldOut === 0) throw new TrainingRefusedError('No task is held out that could be compared on.');
      if (state === 'evaluating' || comparison) return;
      // Not paused in between: who follows it goes on doing so.
      if (this.#active.has(trainingId)) await this.#stop(trainingId, new Stopping());
      else this.#refuseSecond();
      if (this.get(trainingId).state === 'completed') return;
      this.#drive(await this.#change(trainingId, { finishing: true }), { patient: false });
    });
  }

  /**
   * Has the Conductor plan with what was trained; what it planned with before is kept. Offered with a comparison only.
   * @throws TrainingRefusedError
   */
  adopt(trainingId: string): Promise<Training> {
    return this.#commands.run(async () => {
      const training = this.get(trainingId);
      if (training.state !== 'completed' || !training.comparison) {
        throw new TrainingRefusedError('Only what was compared on held-out tasks can be adopted: let the training run to its end.');
      }
      const { adapters, changeWorkers, bundledConductor, parts } = this.#options;
      if (await isOutdated(training, parts)) throw new TrainingRefusedError(`What was trained cannot be adopted: ${OUTDATED}`);
      const target = path.join(adapters, trainingId);
      await mkdir(adapters, { recursive: true });
      await rm(target, { recursive: true, force: true });
      await cp(this.#folder(trainingId).version(training.step), target, { recursive: true });
      if (training.base !== undefined) await writeAdapterBase(target, training.base);
      await changeWorkers((file) => withAdapter(file, training.conductor, target, bundledConductor));
      for (const other of this.list()) if (other.adopted && other.conductor === training.conductor) await this.#change(other.trainingId, { adopted: false });
      return await this.#change(trainingId, { adopted: true });
    });
  }

  /** Has the Conductor plan with what it planned with when the training began. @throws TrainingRefusedError */
  goBack(trainingId: string): Promise<Training> {
    return this.#commands.run(async () => {
      const training = this.get(trainingId);
      if (!training.adopted) throw new TrainingRefusedError(`What the training "${trainingId}" made is not what the Conductor plans with.`);
      const { changeWorkers, bundledConductor } = this.#options;
      await changeWorkers((file) => withAdapter(file, training.conductor, training.adapterBefore, bundledConductor));
      const before = this.list().find((other) => path.join(this.#options.adapters, other.trainingId) === training.adapterBefore);
      if (before) await this.#change(before.trainingId, { adopted: true });
      return await this.#change(trainingId, { adopted: false });
    });
  }

  /**
   * Removes what is known of the training and its runs, for good. Adapters stay that were adopted and may be gone back to.
   * @throws TrainingRefusedError while it is under way, or the Conductor plans with what it made
   */
  remove(trainingId: string): Promise<void> {
    return this.#commands.run(async () => {
      const { adopted } = this.get(trainingId);
      if (this.#active.has(trainingId)) throw new TrainingRefusedError(`The training "${trainingId}" is under way: cancel it before it is removed.`);
      if (adopted) throw new TrainingRefusedError(`The Conductor plans with what the training "${trainingId}" made: go back before it is removed.`);
      const { adapters, parts: { journal } } = this.#options;
      // The folder goes first: where that fails, the training is still known and can be removed again.
      await this.#write(() => this.#folder(trainingId).remove());
      // Nothing drives what its end has left unfinished.
      const runs = [trainingId, `${trainingId}${EVALUATION}`].flatMap((parent) => journal.childrenOf(parent));
      journal.remove(runs, { unfinished: true });
      this.#known.delete(trainingId);
      const adapter = path.join(adapters, trainingId);
      if (!this.list().some(({ adapterBefore }) => adapterBefore === adapter)) await rm(adapter, { recursive: true, force: true });
      for (const onRemoved of this.#removalListeners) onRemoved(trainingId);
    });
  }

  /** Told of every change. @returns a function that ends it */
  listen(listener: TrainingListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** @returns a function that ends it */
  listenForRemovals(listener: RemovalListener): () => void {
    this.#removalListeners.add(listener);
    return () => this.#removalListeners.delete(listener);
  }

  get active(): number {
    return this.#active.size;
  }

  /** Lets go of what is under way; it goes on when a backend next starts. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const active = [...this.#active.values()];
    for (const { controller } of active) controller.abort(new Stopping());
    await Promise.all(active.map(({ done }) => done));
    // Writes that failed were answered to those who asked for them.
    await this.#writes.run(async () => {});
  }

  #folder(trainingId: string): TrainingFolder {
    return new TrainingFolder(path.join(this.#options.trainings, trainingId));
  }

  #refuseSecond(): void {
    const [other] = this.#active.keys();
    if (other !== undefined) throw new TrainingRefusedError('Another training is under way, and there is room for one: pause or cancel it first.');
  }

  async #cast(): Promise<TrainingCast> {
    const { loadWorkers, priced, clients, bundledConductor } = this.#options;
    const file = await loadWorkers();
    const conductor = file.conductor === undefined
      ? bundledPlanner(file.workers, bundledConductor)
      : file.workers.find(({ id }) => id === file.conductor);
    if (!conductor || conductor.provider !== 'local') {
      throw new TrainingError('Training needs a Conductor that runs on this machine: choose one with "Conductor: Choose Conductor Model" or "conductor model choose".', 'conductor');
    }
    const enabled = file.workers.filter((worker) => worker.enabled && worker.id !== conductor.id);
    const ready = await Promise.all(enabled.map(async ({ key }) => key === undefined || Boolean(await clients.secret(key))));
    const pool = enabled.filter((_, index) => ready[index]).map(priced);
    if (pool.length === 0) throw new TrainingError('No worker is ready to do what is planned: add one, or set its key.', 'worker');
    return { conductor, pool, budget: file.budget };
  }

  async #stop(trainingId: string, reason: Error): Promise<void> {
    this.get(trainingId);
    const active = this.#active.get(trainingId);
    if (!active) throw new TrainingRefusedError(`The training "${trainingId}" is not under way.`);
    active.controller.abort(reason);
    await active.done;
  }

  #drive(training: Training, { patient }: { readonly patient: boolean }): void {
    if (this.#isClosed) return;
    const { trainingId } = training;
    const { clients, parts } = this.#options;
    const controller = new AbortController();
    const { signal } = controller;
    const change = async (made: TrainingChange): Promise<void> => {
      signal.throwIfAborted();
      await this.#change(trainingId, made);
    };
    const report = (made: TrainingChange): void => {
      change(made).catch((error: unknown) => controller.abort(error));
    };
    let working: Pick<Training, 'state' | 'message'> | undefined;
    const known = new RunKeys({
      clients, signal, patient,
      onWaiting: async (name) => {
        const { state, message } = this.get(trainingId);
        working ??= { state, message };
        await change({ state: 'waiting', message: waitingForKey(name, `conductor train follow ${trainingId}`) });
        await new Promise<void>(() => {});
      },
    });
    const keys: KeySource = {
      get: async (name) => {
        const value = await known.get(name);
        if (working) await change(working);
        working = undefined;
        return value;
      },
      forget: (name) => known.forget(name),
    };
    const work = async (): Promise<void> => {
      await change({ state: 'preparing', message: 'Getting ready.', progress: null, stopped: null });
      const { loadWorkers, priced, bundledConductor } = this.#options;
      const cast = training.pool ? castToGoOn(training, { file: await loadWorkers(), priced, bundledConductor }) : await this.#cast();
      if (await isOutdated(training, parts)) throw new TrainingError(`This training cannot go on: ${OUTDATED}`);
      const limits = (): TrainingLimits => this.get(trainingId).config.budget;
      await runTraining(parts, { training, folder: this.#folder(trainingId), cast, keys, limits, signal, change, report });
    };
    const done = work()
      .catch(async (error: unknown) => {
        controller.abort(error);
        const ending = endingOf(error);
        if (!ending) return;
        if (ending.state === 'failed' && !(error instanceof TrainingError)) this.#options.log(error instanceof Error ? (error.stack ?? error.message) : String(error));
        await this.#change(trainingId, { ...ending, progress: null });
      })
      .finally(() => {
        this.#active.delete(trainingId);
        this.#tell(this.get(trainingId));
      })
      .catch((error: unknown) => this.#options.log(`How the training ${trainingId} ended could not be saved: ${String(error)}`));
    this.#active.set(trainingId, { controller, done });
  }

  async #change(trainingId: string, change: TrainingChange): Promise<Training> {
    const before = this.get(trainingId);
    const event: TrainingEvent = { trainingId, seq: before.seq + 1, at: this.#options.parts.now(), change };
    const training = applyTrainingEvent(before, event);
    this.#tell(training, event);
    const isLasting = ['state', 'step', 'finishing', 'comparison', 'adopted', 'adapterBefore', 'config'].some((key) => key in change);
    if (isLasting) await this.#save(training);
    return training;
  }

  #save(training: Training): Promise<void> {
    return this.#write(() => this.#folder(training.trainingId).saveTraining(training));
  }

  /** @throws TrainingError where the disk refuses */
  async #write(write: () => Promise<void>): Promise<void> {
    try {
      await this.#writes.run(write);
    } catch (error) {
      throw notSaved(error);
    }
  }

  #tell(training: Training, event?: TrainingEvent): void {
    this.#known.set(training.trainingId, training);
    for (const listener of this.#listeners) listener(training, event);
  }
}

const OUTDATED = 'it was begun with an earlier version of the model that is part of Conductor. Begin another training.';

/** Whether the model has other weights by now than those that the training began with. */
async function isOutdated({ base, model }: Training, { baseOf }: TrainingRunParts): Promise<boolean> {
  return base !== undefined && base !== (await baseOf?.({ model }));
}

/** How a training stands that ended with this; undefined where it only lets go. */
function endingOf(error: unknown): Pick<Training, 'state' | 'message' | 'stopped'> | undefined {
  if (error instanceof Stopping) return undefined;
  if (error instanceof Paused) return { state: 'paused', message: 'Paused.' };
  if (error instanceof Cancelled) return { state: 'cancelled', message: 'Cancelled.' };
  const { message } = isStorageProblem(error) ? notSaved(error) : error instanceof Error ? error : new Error(String(error));
  if (error instanceof TrainingBudgetError) return { state: 'paused', message, stopped: error.stopped };
  return { state: 'failed', message };
}

/** The bundled Conductor stands in the file while it has an adapter. */
function withAdapter(file: WorkersFile, id: string, adapter: string | undefined, bundled: WorkerConfig | undefined): WorkersFile {
  const isMissing = bundled?.id === id && !file.workers.some((worker) => worker.id === id);
  const known = isMissing ? [...file.workers, bundled] : file.workers;
  const isNeedless = (worker: WorkerConfig): boolean => worker.id === id && adapter === undefined && isBundled(worker, bundled);
  const { conductor, ...rest } = file;
  const planner = known.some((worker) => isNeedless(worker) && worker.id === conductor) ? undefined : isMissing ? id : conductor;
  return {
    ...rest,
    ...(planner !== undefined && { conductor: planner }),
    workers: known.filter((worker) => !isNeedless(worker)).map((worker) => {
      if (worker.id !== id) return worker;
      const { adapter: _before, ...others } = worker;
      return adapter === undefined ? others : { ...others, adapter };
    }),
  };
}
