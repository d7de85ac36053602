import type { TaskNotes, TrainingEvent, WholeRollout } from '../../backend/protocol/training.ts';
import type { BackendConnection } from '../common/backend-connection.ts';
import { Signal } from '../common/signal.ts';
import type { Trainings } from './trainings.ts';

export interface TrainingDetailsOptions {
  readonly connection: Pick<BackendConnection, 'request'>;
  readonly trainings: Pick<Trainings, 'open' | 'changed' | 'happened'>;
}

/** Limit of the tasks in the panel; the command line prints more. */
const MAX_TASKS = 500;

/**
 * Details of the open training that are too large for every state update: its tasks, and one complete rollout. Requested again after
 * changes, one request at a time.
 */
export class TrainingDetails {
  readonly changed = new Signal<void>();
  readonly #options: TrainingDetailsOptions;
  #trainingId: string | undefined;
  #count = 0;
  #tasks: TaskNotes | undefined;
  #runId: string | undefined;
  #rollout: WholeRollout | undefined;
  readonly #asking = new Set<() => Promise<void>>();
  readonly #askAgain = new Set<() => Promise<void>>();

  constructor(options: TrainingDetailsOptions) {
    this.#options = options;
    options.trainings.changed.on(() => this.#forgetOther());
    options.trainings.happened.on((event) => this.#onEvent(event));
  }

  /** The first tasks of the open training, up to the requested number. */
  get tasks(): TaskNotes | undefined {
    return this.#tasks;
  }

  get rollout(): WholeRollout | undefined {
    return this.#rollout;
  }

  /** @throws RequestError */
  async showTasks(trainingId: string, count: number): Promise<void> {
    if (!this.#isOpen(trainingId)) return;
    this.#count = Math.min(count, MAX_TASKS);
    await this.#ask(this.#readTasks);
  }

  /** Without `runId`, closes the rollout. @throws RequestError */
  async showRollout(trainingId: string, runId: string | undefined): Promise<void> {
    if (!this.#isOpen(trainingId)) return;
    this.#runId = runId;
    this.#rollout = undefined;
    if (runId === undefined) this.changed.emit();
    else await this.#ask(this.#readRollout);
  }

  #isOpen(trainingId: string): boolean {
    this.#forgetOther();
    return this.#trainingId === trainingId;
  }

  #forgetOther(): void {
    const trainingId = this.#options.trainings.open?.trainingId;
    if (trainingId === this.#trainingId) return;
    this.#trainingId = trainingId;
    this.#count = 0;
    this.#tasks = undefined;
    this.#runId = undefined;
    this.#rollout = undefined;
  }

  #onEvent({ change }: TrainingEvent): void {
    // Tasks change only while a training prepares.
    const isMaking = this.#options.trainings.open?.state === 'preparing' || change.tasks !== undefined || change.state !== undefined;
    if (this.#count > 0 && isMaking) void this.#ask(this.#readTasks).catch(() => undefined);
    const isLookedAt = change.rollouts?.list.some(({ runId }) => runId === this.#runId);
    if (isLookedAt) void this.#ask(this.#readRollout).catch(() => undefined);
  }

  /** Reads again if it is called meanwhile. Ignores a failure if a newer call follows. */
  async #ask(read: () => Promise<void>): Promise<void> {
    if (this.#asking.has(read)) {
      this.#askAgain.add(read);
      return;
    }
    this.#asking.add(read);
    try {
      do {
        this.#askAgain.delete(read);
        await read().catch((error: unknown) => {
          if (!this.#askAgain.has(read)) throw error;
        });
      } while (this.#askAgain.has(read));
    } finally {
      this.#asking.delete(read);
      this.#askAgain.delete(read);
    }
  }

  readonly #readTasks = async (): Promise<void> => {
    const [trainingId, limit] = [this.#trainingId, this.#count];
    if (trainingId === undefined || limit === 0) return;
    const tasks = await this.#options.connection.request('training/tasks', { trainingId, limit });
    if (this.#trainingId !== trainingId) return;
    this.#tasks = tasks;
    this.changed.emit();
  };

  readonly #readRollout = async (): Promise<void> => {
    const [trainingId, runId] = [this.#trainingId, this.#runId];
    if (trainingId === undefined || runId === undefined) return;
    const rollout = await this.#options.connection.request('training/rollout', { trainingId, runId });
    if (this.#runId !== runId) return;
    this.#rollout = rollout;
    this.changed.emit();
  };
}
