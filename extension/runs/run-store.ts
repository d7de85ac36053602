import type { RunText, StoredEvent } from '../../backend/protocol/run-events.ts';
import { applyEvent, applyText } from '../../backend/protocol/fold-run.ts';
import type { RunSnapshot } from '../../backend/protocol/run-snapshot.ts';
import type { BackendConnection } from '../common/backend-connection.ts';
import { Followed } from '../common/followed.ts';
import { RunSubscriptions } from './run-subscriptions.ts';
import { Signal } from '../common/signal.ts';

/** Stores the id of the open run so that it survives a reload of the window. */
export interface RunMemory {
  readonly runId: string | undefined;
  remember(runId: string | undefined): void;
}

/**
 * The run that the window shows, kept up to date from the backend's events. The backend owns the run: closing it here, losing the
 * connection or reloading the window does not affect it.
 */
export class RunStore {
  /** The open run changed, or another one was opened. */
  readonly changed = new Signal<RunSnapshot | undefined>();
  /** Emitted for each event of the open run. */
  readonly happened = new Signal<StoredEvent>();
  /** The open run cannot be followed. The message is a sentence with the reason. */
  readonly problem = new Signal<string>();
  readonly #followed: Followed<RunSnapshot>;
  readonly #stopListening: readonly (() => void)[];

  /** @param options `subscriptions` is shared by all that follow runs on the connection. */
  constructor(
    { connection, memory, subscriptions = new RunSubscriptions(connection) }:
    { connection: BackendConnection; memory: RunMemory; subscriptions?: RunSubscriptions },
  ) {
    this.#followed = new Followed({
      connection,
      memory: { id: memory.runId, remember: (runId) => memory.remember(runId) },
      subscribe: (runId) => subscriptions.begin(runId, this),
      unsubscribe: (runId) => subscriptions.end(runId, this),
      onSnapshot: () => this.changed.emit(this.run),
      onProblem: (message) => this.problem.emit(message),
    });
    this.#stopListening = [
      connection.on('run/event', (event) => this.#onEvent(event)),
      connection.on('run/removed', ({ runId }) => {
        if (this.#followed.id === runId) this.close();
      }),
      connection.on('run/text', (text) => this.#onText(text)),
    ];
  }

  /** The current state of the open run; undefined if none is open or the first snapshot has not arrived. */
  get run(): RunSnapshot | undefined {
    return this.#followed.snapshot;
  }

  /** Opens the run and follows it. @throws BackendRequestError; the previous run then stays open */
  open(runId: string): Promise<RunSnapshot> {
    return this.#followed.open(runId);
  }

  /** Closes the open run. */
  close(): void {
    this.#followed.close();
    this.changed.emit(undefined);
  }

  /** Stops following for good. */
  dispose(): void {
    for (const stop of this.#stopListening) stop();
    this.#followed.dispose();
  }

  #onEvent(event: StoredEvent): void {
    if (this.#followed.id !== event.runId) return;
    if (this.#followed.change((run) => applyEvent(run, event), event.seq)) this.changed.emit(this.run);
    this.happened.emit(event);
  }

  #onText(text: RunText): void {
    if (this.#followed.id === text.runId && this.#followed.change((run) => applyText(run, text))) this.changed.emit(this.run);
  }
}
