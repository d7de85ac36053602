import type { Training, TrainingChange, TrainingLimits } from '../../protocol/training.ts';
import { RunKeys, waitingForKey } from '../../solve/run-keys.ts';
import type { KeySource } from '../../workers/key-source.ts';
import { TeamError } from '../team/team-error.ts';
import { TrainingBudgetError } from '../rollouts/training-budget.ts';
import { isOutdated, OUTDATED } from './adapter-base.ts';
import { knownWith } from './learned-outcomes.ts';
import { runLearning } from './run-learning.ts';
import { runTraining } from './run-training.ts';
import { Cancelled, Interrupted, Paused } from './stop-reasons.ts';
import { isStorageProblem, notSaved } from './storage-problem.ts';
import { castToBegin, castToGoOn, type TrainingCastSources } from './training-cast.ts';
import { TrainingError, TrainingRefusedError } from './training-error.ts';
import type { TrainingRunParts } from './training-parts.ts';
import type { TrainingRegistry } from './training-registry.ts';

export interface TrainingDriverOptions extends TrainingCastSources {
  readonly registry: TrainingRegistry;
  /** The folder (absolute) that holds the adopted adapters. */
  readonly adapters: string;
  readonly parts: TrainingRunParts;
  /** For unexpected errors. */
  readonly log: (message: string) => void;
}

interface ActiveTraining {
  readonly controller: AbortController;
  readonly done: Promise<void>;
}

/** Runs trainings until they end or are stopped, and records how they ended. */
export class TrainingDriver {
  readonly #options: TrainingDriverOptions;
  readonly #active = new Map<string, ActiveTraining>();
  #isClosed = false;

  constructor(options: TrainingDriverOptions) {
    this.#options = options;
  }

  get active(): number {
    return this.#active.size;
  }

  isActive(trainingId: string): boolean {
    return this.#active.has(trainingId);
  }

  /** @throws TrainingRefusedError */
  refuseSecond(): void {
    if (this.#active.size > 0) throw new TrainingRefusedError('Another training is under way, and there is room for one: pause or cancel it first.');
  }

  /** Starts it in the background. `patient`: waits for keys that no client has yet. */
  drive(training: Training, { patient }: { readonly patient: boolean }): void {
    if (this.#isClosed) return;
    const { trainingId } = training;
    const { registry, log } = this.#options;
    const controller = new AbortController();
    const done = this.#run(training, controller, patient)
      .catch(async (error: unknown) => {
        controller.abort(error);
        const ending = endingOf(error);
        if (!ending) return;
        if (ending.state === 'failed' && !(error instanceof TrainingError) && !(error instanceof TeamError)) log(error instanceof Error ? (error.stack ?? error.message) : String(error));
        await registry.change(trainingId, { ...ending, progress: null });
      })
      .finally(() => {
        this.#active.delete(trainingId);
        registry.announce(trainingId);
      })
      .catch((error: unknown) => log(`How the training ${trainingId} ended could not be saved: ${String(error)}`));
    this.#active.set(trainingId, { controller, done });
  }

  /** Resolves when everything under way has ended. @throws TrainingRefusedError */
  async stop(trainingId: string, reason: Paused | Cancelled | Interrupted): Promise<void> {
    const active = this.#active.get(trainingId);
    if (!active) throw new TrainingRefusedError(`The training "${trainingId}" is not under way.`);
    active.controller.abort(reason);
    await active.done;
  }

  /** Interrupts what is under way; nothing can be driven afterwards. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const active = [...this.#active.values()];
    for (const { controller } of active) controller.abort(new Interrupted());
    await Promise.all(active.map(({ done }) => done));
  }

  async #run(training: Training, controller: AbortController, patient: boolean): Promise<void> {
    const { registry, parts, adapters } = this.#options;
    const { trainingId } = training;
    const { signal } = controller;
    const change = async (made: TrainingChange): Promise<void> => {
      signal.throwIfAborted();
      await registry.change(trainingId, made);
    };
    const report = (made: TrainingChange): void => {
      change(made).catch((error: unknown) => controller.abort(error));
    };
    await change({ state: 'preparing', message: 'Getting ready.', progress: null, stopped: null });
    const cast = training.pool ? await castToGoOn(training, this.#options) : await castToBegin(this.#options);
    if (await isOutdated(training, parts.baseOf)) throw new TrainingError(`This training cannot go on: ${OUTDATED}`);
    const keys = this.#keys(trainingId, { change, signal, patient });
    const known = await knownWith(cast.conductor.adapter, { adapters, trainings: registry.list() });
    const limits = (): TrainingLimits => registry.get(trainingId).config.budget;
    await (training.learnsFrom === 'outcomes' ? runLearning : runTraining)(parts, { training, folder: registry.folder(trainingId), cast, keys, known, limits, signal, change, report });
  }

  /** Keys from the clients. The training's state says that it waits for one, and goes back when the key is there. */
  #keys(
    trainingId: string, { change, signal, patient }: { readonly change: (made: TrainingChange) => Promise<void>; readonly signal: AbortSignal; readonly patient: boolean },
  ): KeySource {
    const { registry, clients } = this.#options;
    let working: Pick<Training, 'state' | 'message'> | undefined;
    const known = new RunKeys({
      clients, signal, patient,
      onWaiting: async (name) => {
        const { state, message } = registry.get(trainingId);
        working ??= { state, message };
        await change({ state: 'waiting', message: waitingForKey(name, `conductor train follow ${trainingId}`) });
        await new Promise<void>(() => {});
      },
    });
    return {
      get: async (name) => {
        const value = await known.get(name);
        const before = working;
        working = undefined;
        if (before) await change(before);
        return value;
      },
      forget: (name) => known.forget(name),
    };
  }
}

/** The state of a training that ended with this error; undefined where it keeps its state. */
function endingOf(error: unknown): Pick<Training, 'state' | 'message' | 'stopped'> | undefined {
  if (error instanceof Interrupted) return undefined;
  if (error instanceof Paused) return { state: 'paused', message: 'Paused.' };
  if (error instanceof Cancelled) return { state: 'cancelled', message: 'Cancelled.' };
  if (error instanceof TrainingBudgetError) return { state: 'paused', message: error.message, stopped: error.stopped };
  if (isStorageProblem(error)) return { state: 'failed', message: notSaved(error).message };
  return { state: 'failed', message: error instanceof Error ? error.message : String(error) };
}
