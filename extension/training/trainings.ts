import { applyTrainingEvent, isOfProject, isTrainingOver } from '../../backend/protocol/training-facts.ts';
import type { Training, TrainingEvent, TrainingState, TrainingSummary } from '../../backend/protocol/training.ts';
import type { BackendConnection } from '../common/backend-connection.ts';
import { Followed } from '../common/followed.ts';
import { Signal } from '../common/signal.ts';

/** Stores the id of the open training so that it survives a reload of the window. */
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

/**
 * The trainings of the window's folders and of all projects together, newest first (without a folder, those of every project), and the open one, kept up to date from
 * the backend's events. The backend owns it: closing it here, losing the connection or closing the window does not affect it.
 */
export class Trainings {
  /** The list or the open training changed. */
  readonly changed = new Signal<void>();
  /** Emitted for each change of the open training. */
  readonly happened = new Signal<TrainingEvent>();
  /** An active training ended or paused. */
  readonly stopped = new Signal<TrainingSummary>();
  /** The open training cannot be followed. The message is a sentence with the reason. */
  readonly problem = new Signal<string>();
  readonly #options: TrainingsOptions;
  readonly #followed: Followed<Training>;
  #list: readonly TrainingSummary[] = [];

  constructor(options: TrainingsOptions) {
    this.#options = options;
    const { connection, memory } = options;
    this.#followed = new Followed({
      connection,
      memory: { id: memory.trainingId, remember: (trainingId) => memory.remember(trainingId) },
      subscribe: (trainingId) => connection.request('training/subscribe', { trainingId }),
      unsubscribe: (trainingId) => connection.request('training/unsubscribe', { trainingId }),
      onSnapshot: () => this.changed.emit(),
      onProblem: (message) => this.problem.emit(message),
    });
    connection.on('training/changed', (summary) => this.#put(summary));
    connection.on('training/event', (event) => this.#onEvent(event));
    connection.on('training/removed', ({ trainingId }) => this.#onRemoved(trainingId));
    // A failure needs no message: the list is not awaited, and the connection's state shows the cause.
    connection.connected.on(() => void this.refresh().catch(() => undefined));
  }

  get list(): readonly TrainingSummary[] {
    return this.#list;
  }

  /** The current state of the open training; undefined if none is open or it has not arrived. */
  get open(): Training | undefined {
    return this.#followed.snapshot;
  }

  get isOpen(): boolean {
    return this.#followed.id !== undefined;
  }

  /** Reads the list again. */
  async refresh(): Promise<readonly TrainingSummary[]> {
    const { connection, folders } = this.#options;
    const workspaces = folders();
    const lists = await Promise.all((workspaces.length === 0 ? [undefined] : workspaces).map((workspace) =>
      connection.request('training/list', workspace === undefined ? {} : { workspace })));
    this.#list = newestFirst(distinct(lists.flatMap(({ trainings }) => trainings)).map((training) => this.#latest(training)));
    this.changed.emit();
    return this.#list;
  }

  /** Opens the training and follows it. @throws RequestError if the id is unknown; the previous training then stays open */
  async show(trainingId: string): Promise<void> {
    const { id, snapshot, isWaiting } = this.#followed;
    if (id !== trainingId || !snapshot || isWaiting) await this.#followed.open(trainingId);
  }

  /** Closes the open training. */
  close(): void {
    if (!this.isOpen) return;
    this.#followed.close();
    this.changed.emit();
  }

  #onEvent(event: TrainingEvent): void {
    if (this.#followed.id !== event.trainingId) return;
    if (!this.#followed.change((training) => applyTrainingEvent(training, event), event.seq)) return;
    this.happened.emit(event);
    this.changed.emit();
  }

  #onRemoved(trainingId: string): void {
    this.#list = this.#list.filter((one) => one.trainingId !== trainingId);
    if (this.#followed.id === trainingId) this.#followed.close();
    this.changed.emit();
  }

  #put(received: TrainingSummary): void {
    const { trainingId } = received;
    const workspaces = this.#options.folders();
    const before = this.#known(trainingId);
    const summary = this.#latest(received);
    if (workspaces.length === 0 || workspaces.some((project) => isOfProject(received, project))) {
      this.#list = newestFirst([summary, ...this.#list.filter((one) => one.trainingId !== trainingId)]);
    }
    this.changed.emit();
    if (before && isUnderWay(before) && !isUnderWay(summary)) this.stopped.emit(summary);
  }

  #known(trainingId: string): TrainingSummary | undefined {
    return this.#list.find((one) => one.trainingId === trainingId);
  }

  /** A response may arrive after the notification of a later change. */
  #latest(received: TrainingSummary): TrainingSummary {
    const known = this.#known(received.trainingId);
    return known && known.updatedAt > received.updatedAt ? known : received;
  }
}

export function isUnderWay({ state }: { readonly state: TrainingState }): boolean {
  return state !== 'paused' && !isTrainingOver(state);
}

/** Those of all projects are in the list of each. */
function distinct(trainings: readonly TrainingSummary[]): readonly TrainingSummary[] {
  return [...new Map(trainings.map((one) => [one.trainingId, one])).values()];
}

function newestFirst(trainings: readonly TrainingSummary[]): readonly TrainingSummary[] {
  return [...trainings].sort((a, b) => b.startedAt - a.startedAt).slice(0, MAX_TRAININGS);
}
