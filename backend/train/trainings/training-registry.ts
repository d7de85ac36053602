import path from 'node:path';
import { SerialQueue } from '../../common/serial-queue.ts';
import { applyTrainingEvent, isOfProject } from '../../protocol/training-facts.ts';
import type { Training, TrainingChange, TrainingEvent } from '../../protocol/training.ts';
import { notSaved } from './storage-problem.ts';
import { TrainingRefusedError } from './training-error.ts';
import { TrainingFolder, trainingFolders } from './training-folder.ts';

/** Called with a training and its last change; without a change where the training is only announced. */
export type TrainingListener = (training: Training, event?: TrainingEvent) => void;
/** Called when a training is removed. */
export type RemovalListener = (trainingId: string) => void;

/** Changes to these are saved; the others can be worked out again. */
const SAVED = ['state', 'step', 'finishing', 'looks', 'mostTries', 'comparison', 'outcomes', 'logged', 'adopted', 'adapterBefore', 'config'] as const;

/** The trainings that this process knows, each in a folder of its own under `root` (absolute). */
export class TrainingRegistry {
  readonly #root: string;
  readonly #now: () => number;
  readonly #known = new Map<string, Training>();
  readonly #listeners = new Set<TrainingListener>();
  readonly #removalListeners = new Set<RemovalListener>();
  /** Keeps states in order on disk. */
  readonly #writes = new SerialQueue();

  constructor(root: string, now: () => number) {
    this.#root = root;
    this.#now = now;
  }

  /** Reads what earlier processes saved. */
  async load(): Promise<readonly Training[]> {
    const found: Training[] = [];
    for (const folder of await trainingFolders(this.#root)) {
      const training = await folder.training();
      if (!training) continue;
      this.#announce(training);
      found.push(training);
    }
    return found;
  }

  folder(trainingId: string): TrainingFolder {
    return new TrainingFolder(path.join(this.#root, trainingId));
  }

  /** Newest first. @param workspace those of this project, and those that learn from all projects */
  list(workspace?: string): readonly Training[] {
    const all = [...this.#known.values()].filter((training) => workspace === undefined || isOfProject(training, workspace));
    return all.sort((a, b) => b.startedAt - a.startedAt);
  }

  /** @throws TrainingRefusedError */
  get(trainingId: string): Training {
    const training = this.#known.get(trainingId);
    if (!training) throw new TrainingRefusedError(`There is no training "${trainingId}".`);
    return training;
  }

  /** @throws TrainingError where it cannot be saved */
  async add(training: Training): Promise<void> {
    await this.#save(training);
    this.#announce(training);
  }

  /** Listeners hear of the change at once; it is on disk when this returns. @throws TrainingError where it cannot be saved */
  async change(trainingId: string, change: TrainingChange): Promise<Training> {
    const before = this.get(trainingId);
    const event: TrainingEvent = { trainingId, seq: before.seq + 1, at: this.#now(), change };
    const training = applyTrainingEvent(before, event);
    this.#announce(training, event);
    if (SAVED.some((key) => key in change)) await this.#save(training);
    return training;
  }

  /** `removeRuns` runs once the folder is gone; where it or the folder fails, the training stays known and can be removed again. */
  async remove(trainingId: string, removeRuns: () => void): Promise<void> {
    await this.#write(() => this.folder(trainingId).remove());
    removeRuns();
    this.#known.delete(trainingId);
    for (const onRemoved of this.#removalListeners) onRemoved(trainingId);
  }

  /** Tells listeners how a training stands now. */
  announce(trainingId: string): void {
    this.#announce(this.get(trainingId));
  }

  /** @returns a function that stops listening */
  listen(listener: TrainingListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** @returns a function that stops listening */
  listenForRemovals(listener: RemovalListener): () => void {
    this.#removalListeners.add(listener);
    return () => this.#removalListeners.delete(listener);
  }

  /** Resolves when all writes are done. Those that failed rejected for their own callers. */
  async written(): Promise<void> {
    await this.#writes.run(async () => {});
  }

  #announce(training: Training, event?: TrainingEvent): void {
    this.#known.set(training.trainingId, training);
    for (const listener of this.#listeners) listener(training, event);
  }

  #save(training: Training): Promise<void> {
    return this.#write(() => this.folder(training.trainingId).saveTraining(training));
  }

  async #write(write: () => Promise<void>): Promise<void> {
    try {
      await this.#writes.run(write);
    } catch (error) {
      throw notSaved(error);
    }
  }
}
