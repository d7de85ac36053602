import {
  applyTrainingEvent, isTrainingOver, type Training, type TrainingEvent, type TrainingState, type TrainingSummary,
} from '../backend/protocol/training.ts';
import { messageOf, type BackendConnection } from './backend-connection.ts';
import { Signal } from './signal.ts';

/** Where the id of the open training outlives a reload of the window. */
export interface TrainingMemory {
  readonly trainingId: string | undefined;
  remember(trainingId: string | undefined): void;
}

export interface TrainingsOptions {
  readonly connection: Pick<BackendConnection, 'on' | 'request' | 'connected' | 'state'>;
  readonly folders: () => readonly string[];
  readonly memory: TrainingMemory;
}

const MAX_TRAININGS = 50;

interface OpenTraining {
  readonly trainingId: string;
  training?: Training;
  /** Set while a snapshot is on its way: what comes meanwhile waits for it, so that nothing is folded into an older one. */
  waiting?: TrainingEvent[];
}

/**
 * The trainings of the window's folders, newest first (without a folder, those of every project), and the one that is open, kept up to date
 * from its changes. The backend owns it: closing it here, losing the connection or closing the window changes nothing about it.
 */
export class Trainings {
  /** The list or the open training changed. */
  readonly changed = new Signal<void>();
  /** A change of the open training, as it arrives. */
  readonly happened = new Signal<TrainingEvent>();
  /** A training that was under way is over, or paused. */
  readonly stopped = new Signal<TrainingSummary>();
  /** The open training cannot be followed; a sentence that says why. */
  readonly problem = new Signal<string>();
  readonly #options: TrainingsOptions;
  #list: readonly TrainingSummary[] = [];
  #open: OpenTraining | undefined;

  constructor(options: TrainingsOptions) {
    this.#options = options;
    const { connection, memory } = options;
    if (memory.trainingId !== undefined) this.#open = { trainingId: memory.trainingId };
    connection.on('training/changed', (summary) => this.#put(summary));
    connection.on('training/event', (event) => this.#onEvent(event));
    connection.connected.on(() => void this.#catchUp());
  }

  get list(): readonly TrainingSummary[] {
    return this.#list;
  }

  /** The open training as of now; undefined where none is open or it is still on the way. */
  get open(): Training | undefined {
    return this.#open?.training;
  }

  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  /** Reads the list again. */
  async refresh(): Promise<readonly TrainingSummary[]> {
    const { connection, folders } = this.#options;
    const workspaces = folders();
    const lists = await Promise.all((workspaces.length === 0 ? [undefined] : workspaces).map((workspace) =>
      connection.request('training/list', workspace === undefined ? {} : { workspace })));
    this.#list = newestFirst(lists.flatMap(({ trainings }) => trainings.map((training) => this.#latest(training))));
    this.changed.emit();
    return this.#list;
  }

  /** Opens the training and follows it. @throws RequestError where there is none of this id, and then shows what it showed before */
  async show(trainingId: string): Promise<void> {
    const before = this.#open;
    if (before?.trainingId === trainingId && before.training && !before.waiting) return;
    const open: OpenTraining = { trainingId };
    this.#open = open;
    try {
      await this.#follow(open);
    } catch (error) {
      if (this.#open === open) this.#open = before;
      throw error;
    }
    if (before && before.trainingId !== trainingId) this.#unfollow(before.trainingId);
    this.#options.memory.remember(trainingId);
  }

  /** Has none open. */
  close(): void {
    const before = this.#open;
    if (!before) return;
    this.#open = undefined;
    this.#options.memory.remember(undefined);
    this.#unfollow(before.trainingId);
    this.changed.emit();
  }

  async #follow(open: OpenTraining): Promise<void> {
    const waiting: TrainingEvent[] = [];
    open.waiting = waiting;
    try {
      const training = await this.#options.connection.request('training/subscribe', { trainingId: open.trainingId });
      open.training = waiting.reduce(applyTrainingEvent, training);
    } finally {
      if (open.waiting === waiting) delete open.waiting;
    }
    if (this.#open === open) this.changed.emit();
  }

  #unfollow(trainingId: string): void {
    const { connection } = this.#options;
    // Without a connection there is no subscription either, and nothing to start a backend for.
    if (connection.state.kind === 'connected') connection.request('training/unsubscribe', { trainingId }).catch(() => undefined);
  }

  async #catchUp(): Promise<void> {
    // The list is not what anybody waits for: where it cannot be had, the connection's own state says why.
    await Promise.all([this.refresh().catch(() => undefined), this.#followAgain()]);
  }

  async #followAgain(): Promise<void> {
    const open = this.#open;
    if (!open || open.waiting) return;
    try {
      await this.#follow(open);
    } catch (error) {
      if (this.#open !== open) return;
      if (!open.training) this.close();
      this.problem.emit(messageOf(error));
    }
  }

  #onEvent(event: TrainingEvent): void {
    const open = this.#open;
    if (open?.trainingId !== event.trainingId) return;
    if (open.waiting) return void open.waiting.push(event);
    if (!open.training) return;
    // Something was missed; the backend's own snapshot has it.
    if (event.seq > open.training.seq + 1) return void this.#followAgain();
    open.training = applyTrainingEvent(open.training, event);
    this.happened.emit(event);
    this.changed.emit();
  }

  #put(told: TrainingSummary): void {
    const { trainingId, workspace } = told;
    const workspaces = this.#options.folders();
    const before = this.#known(trainingId);
    const summary = this.#latest(told);
    if (workspaces.length === 0 || workspaces.includes(workspace)) {
      this.#list = newestFirst([summary, ...this.#list.filter((one) => one.trainingId !== trainingId)]);
    }
    this.changed.emit();
    if (before && isUnderWay(before) && !isUnderWay(summary)) this.stopped.emit(summary);
  }

  #known(trainingId: string): TrainingSummary | undefined {
    return this.#list.find((one) => one.trainingId === trainingId);
  }

  /** What was asked for may come after the notification of what has happened since. */
  #latest(told: TrainingSummary): TrainingSummary {
    const known = this.#known(told.trainingId);
    return known && known.updatedAt > told.updatedAt ? known : told;
  }
}

export function isUnderWay({ state }: { readonly state: TrainingState }): boolean {
  return state !== 'paused' && !isTrainingOver(state);
}

function newestFirst(trainings: readonly TrainingSummary[]): readonly TrainingSummary[] {
  return [...trainings].sort((a, b) => b.startedAt - a.startedAt).slice(0, MAX_TRAININGS);
}
