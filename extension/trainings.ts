import { isTrainingOver, type Training } from '../backend/protocol/training.ts';
import { messageOf, type BackendConnection } from './backend-connection.ts';
import { Signal } from './signal.ts';

/** Where the id of the open training outlives a reload of the window. */
export interface TrainingMemory {
  readonly trainingId: string | undefined;
  remember(trainingId: string | undefined): void;
}

export interface TrainingsOptions {
  readonly connection: Pick<BackendConnection, 'on' | 'request' | 'connected'>;
  readonly folders: () => readonly string[];
  readonly memory: TrainingMemory;
}

const MAX_TRAININGS = 50;

/**
 * The trainings of the window's folders, newest first (without a folder, those of every project), and the one that is open. Every change
 * comes as the whole training, and the backend owns it: closing it here, or the window, changes nothing about it.
 */
export class Trainings {
  /** The list or the open training changed. */
  readonly changed = new Signal<void>();
  /** A training that was under way is over, or paused. */
  readonly stopped = new Signal<Training>();
  /** The open training cannot be followed; a sentence that says why. */
  readonly problem = new Signal<string>();
  readonly #options: TrainingsOptions;
  #list: readonly Training[] = [];
  #openId: string | undefined;
  #open: Training | undefined;

  constructor(options: TrainingsOptions) {
    this.#options = options;
    const { connection, memory } = options;
    this.#openId = memory.trainingId;
    connection.on('training/changed', (training) => this.#put(training));
    connection.connected.on(() => void this.#catchUp());
  }

  get list(): readonly Training[] {
    return this.#list;
  }

  /** The open training as of now; undefined where none is open or it is still on the way. */
  get open(): Training | undefined {
    return this.#open;
  }

  get isOpen(): boolean {
    return this.#openId !== undefined;
  }

  /** Reads the list again. */
  async refresh(): Promise<readonly Training[]> {
    const { connection, folders } = this.#options;
    const workspaces = folders();
    const lists = await Promise.all((workspaces.length === 0 ? [undefined] : workspaces).map((workspace) =>
      connection.request('training/list', workspace === undefined ? {} : { workspace })));
    this.#list = newestFirst(lists.flatMap(({ trainings }) => trainings.map((training) => this.#latest(training))));
    this.changed.emit();
    return this.#list;
  }

  /** Opens the training and follows it. @throws RequestError where there is none of this id */
  async show(trainingId: string): Promise<void> {
    const { connection, memory } = this.#options;
    const training = await connection.request('training/get', { trainingId });
    this.#openId = trainingId;
    memory.remember(trainingId);
    this.#put(training);
  }

  /** Has none open. */
  close(): void {
    if (this.#openId === undefined) return;
    this.#openId = undefined;
    this.#open = undefined;
    this.#options.memory.remember(undefined);
    this.changed.emit();
  }

  async #catchUp(): Promise<void> {
    // The list is not what anybody waits for: where it cannot be had, the connection's own state says why.
    await this.refresh().catch(() => undefined);
    const trainingId = this.#openId;
    if (trainingId === undefined) return;
    try {
      const training = await this.#options.connection.request('training/get', { trainingId });
      if (this.#openId === trainingId) this.#put(training);
    } catch (error) {
      if (this.#openId !== trainingId) return;
      if (!this.#open) this.close();
      this.problem.emit(messageOf(error));
    }
  }

  #put(told: Training): void {
    const { trainingId, workspace } = told;
    const workspaces = this.#options.folders();
    const before = this.#known(trainingId);
    const training = this.#latest(told);
    if (workspaces.length === 0 || workspaces.includes(workspace)) {
      this.#list = newestFirst([training, ...this.#list.filter((one) => one.trainingId !== trainingId)]);
    }
    if (trainingId === this.#openId) this.#open = training;
    this.changed.emit();
    if (before && isUnderWay(before) && !isUnderWay(training)) this.stopped.emit(training);
  }

  #known(trainingId: string): Training | undefined {
    return [this.#open, ...this.#list].find((one) => one?.trainingId === trainingId);
  }

  /** What was asked for may come after the notification of what has happened since. */
  #latest(told: Training): Training {
    const known = this.#known(told.trainingId);
    return known && known.updatedAt > told.updatedAt ? known : told;
  }
}

export function isUnderWay({ state }: Training): boolean {
  return state !== 'paused' && !isTrainingOver(state);
}

function newestFirst(trainings: readonly Training[]): readonly Training[] {
  return [...trainings].sort((a, b) => b.startedAt - a.startedAt).slice(0, MAX_TRAININGS);
}
