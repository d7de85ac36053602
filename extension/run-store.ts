import type { RunText, StoredEvent } from '../backend/protocol/run-events.ts';
import { applyEvent, applyText, type RunSnapshot } from '../backend/protocol/run-snapshot.ts';
import { messageOf, type BackendConnection } from './backend-connection.ts';
import { Signal } from './signal.ts';

/** Where the id of the open run outlives a reload of the window. */
export interface RunMemory {
  readonly runId: string | undefined;
  remember(runId: string | undefined): void;
}

interface OpenRun {
  readonly runId: string;
  run?: RunSnapshot;
  /** Set while a snapshot is on its way: what comes meanwhile waits for it, so that nothing is folded into an older one. */
  waiting?: ((run: RunSnapshot) => RunSnapshot)[];
}

/**
 * The run that the window shows, kept up to date from the backend's events. The backend owns the run: closing it here, losing the
 * connection or reloading the window changes nothing about it.
 */
export class RunStore {
  /** The open run changed, or another one is open. */
  readonly changed = new Signal<RunSnapshot | undefined>();
  /** An event of the open run, as it arrives. */
  readonly happened = new Signal<StoredEvent>();
  /** The open run cannot be followed; a sentence that says why. */
  readonly problem = new Signal<string>();
  readonly #connection: BackendConnection;
  readonly #memory: RunMemory;
  #open: OpenRun | undefined;

  constructor({ connection, memory }: { connection: BackendConnection; memory: RunMemory }) {
    this.#connection = connection;
    this.#memory = memory;
    if (memory.runId !== undefined) this.#open = { runId: memory.runId };
    connection.on('run/event', (event) => this.#onEvent(event));
    connection.on('run/text', (text) => this.#onText(text));
    connection.connected.on(() => void this.#followAgain());
  }

  /** The open run as of now; undefined where none is open or its first snapshot is still on the way. */
  get run(): RunSnapshot | undefined {
    return this.#open?.run;
  }

  /** Shows the run and follows it. @throws BackendRequestError, and then shows what it showed before. */
  async open(runId: string): Promise<RunSnapshot> {
    const before = this.#open;
    const open: OpenRun = { runId };
    this.#open = open;
    try {
      await this.#follow(open);
    } catch (error) {
      if (this.#open === open) this.#open = before;
      throw error;
    }
    if (before && before.runId !== runId) this.#unfollow(before.runId);
    this.#memory.remember(runId);
    if (!open.run) throw new Error('Another run was opened meanwhile.');
    return open.run;
  }

  /** Shows no run. */
  close(): void {
    const before = this.#open;
    this.#open = undefined;
    this.#memory.remember(undefined);
    if (before) this.#unfollow(before.runId);
    this.changed.emit(undefined);
  }

  async #follow(open: OpenRun): Promise<void> {
    const waiting: NonNullable<OpenRun['waiting']> = [];
    open.waiting = waiting;
    try {
      const { run } = await this.#connection.request('run/subscribe', { runId: open.runId });
      open.run = waiting.reduce((snapshot, change) => change(snapshot), run);
    } finally {
      if (open.waiting === waiting) delete open.waiting;
    }
    if (this.#open === open) this.changed.emit(open.run);
  }

  async #followAgain(): Promise<void> {
    const open = this.#open;
    if (!open || open.waiting) return;
    try {
      await this.#follow(open);
    } catch (error) {
      if (this.#open !== open) return;
      if (!open.run) this.close();
      this.problem.emit(messageOf(error));
    }
  }

  #unfollow(runId: string): void {
    // Without a connection there is no subscription either, and nothing to start a backend for.
    if (this.#connection.state.kind !== 'connected') return;
    this.#connection.request('run/unsubscribe', { runId }).catch(() => undefined);
  }

  #onEvent(event: StoredEvent): void {
    const open = this.#open;
    if (open?.runId !== event.runId) return;
    const { run } = open;
    if (run && !open.waiting && event.seq > run.seq + 1) {
      // Something was missed; the backend's own snapshot has it.
      void this.#followAgain();
    }
    this.#change(open, (snapshot) => applyEvent(snapshot, event));
    this.happened.emit(event);
  }

  #onText(text: RunText): void {
    const open = this.#open;
    if (open?.runId === text.runId) this.#change(open, (snapshot) => applyText(snapshot, text));
  }

  #change(open: OpenRun, change: (run: RunSnapshot) => RunSnapshot): void {
    if (open.waiting) {
      open.waiting.push(change);
      return;
    }
    if (!open.run) return;
    open.run = change(open.run);
    this.changed.emit(open.run);
  }
}
