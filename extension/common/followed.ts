import { messageOf, type BackendConnection } from './backend-connection.ts';

/** Stores the id of the open item so that it survives a reload of the window. */
interface Memory {
  readonly id: string | undefined;
  readonly remember: (id: string | undefined) => void;
}

export interface FollowedOptions<Snapshot> {
  readonly connection: Pick<BackendConnection, 'connected' | 'state'>;
  readonly memory: Memory;
  readonly subscribe: (id: string) => Promise<Snapshot>;
  readonly unsubscribe: (id: string) => Promise<unknown>;
  /** A new snapshot arrived, or the item was closed because it could not be followed. */
  readonly onSnapshot: () => void;
  /** The item cannot be followed. The message is a sentence with the reason. */
  readonly onProblem: (message: string) => void;
}

interface Open<Snapshot> {
  readonly id: string;
  snapshot?: Snapshot;
  /** Set while a snapshot is being fetched. Changes that arrive meanwhile are applied to that snapshot, not to the old one. */
  waiting?: ((snapshot: Snapshot) => Snapshot)[];
}

/** Follows one item of the backend at a time: a snapshot plus the changes since. Subscribes again on every new connection. */
export class Followed<Snapshot extends { readonly seq: number }> {
  readonly #options: FollowedOptions<Snapshot>;
  readonly #stopListening: () => void;
  #open: Open<Snapshot> | undefined;

  constructor(options: FollowedOptions<Snapshot>) {
    this.#options = options;
    const { connection, memory: { id } } = options;
    if (id !== undefined) this.#open = { id };
    this.#stopListening = connection.connected.on(() => this.#followAgain());
  }

  get id(): string | undefined {
    return this.#open?.id;
  }

  /** The current snapshot; undefined if nothing is open or the first snapshot has not arrived. */
  get snapshot(): Snapshot | undefined {
    return this.#open?.snapshot;
  }

  /** True while a snapshot is being fetched. */
  get isWaiting(): boolean {
    return this.#open?.waiting !== undefined;
  }

  /** @throws the error of `subscribe`; the previous item is then open again */
  async open(id: string): Promise<Snapshot> {
    const before = this.#open;
    const open: Open<Snapshot> = { id };
    this.#open = open;
    let snapshot: Snapshot;
    try {
      snapshot = await this.#follow(open);
    } catch (error) {
      if (this.#open === open) this.#open = before;
      throw error;
    }
    if (before && before.id !== id) this.#unfollow(before.id);
    // Another item may have been opened, or this one closed, while the snapshot was fetched.
    if (this.#open === open) this.#options.memory.remember(id);
    return snapshot;
  }

  close(): void {
    const before = this.#open;
    this.#open = undefined;
    this.#options.memory.remember(undefined);
    if (before) this.#unfollow(before.id);
  }

  /** Closes the item for good. */
  dispose(): void {
    this.#stopListening();
    this.close();
  }

  /**
   * Applies a change to the snapshot, or queues it for the snapshot being fetched.
   * @param seq the sequence number, if any; a gap before it means that changes were missed, so the snapshot is fetched again
   * @returns whether the change was applied now
   */
  change(change: (snapshot: Snapshot) => Snapshot, seq?: number): boolean {
    const open = this.#open;
    if (open?.snapshot && !open.waiting && seq !== undefined && seq > open.snapshot.seq + 1) this.#followAgain();
    if (open?.waiting) open.waiting.push(change);
    else if (open?.snapshot) {
      open.snapshot = change(open.snapshot);
      return true;
    }
    return false;
  }

  async #follow(open: Open<Snapshot>): Promise<Snapshot> {
    const waiting: NonNullable<Open<Snapshot>['waiting']> = [];
    open.waiting = waiting;
    let snapshot: Snapshot;
    try {
      snapshot = waiting.reduce((before, change) => change(before), await this.#options.subscribe(open.id));
      open.snapshot = snapshot;
    } finally {
      if (open.waiting === waiting) delete open.waiting;
    }
    if (this.#open === open) this.#options.onSnapshot();
    return snapshot;
  }

  #followAgain(): void {
    const open = this.#open;
    if (!open || open.waiting) return;
    this.#follow(open).catch((error: unknown) => {
      if (this.#open !== open) return;
      if (!open.snapshot) {
        this.close();
        this.#options.onSnapshot();
      }
      this.#options.onProblem(messageOf(error));
    });
  }

  #unfollow(id: string): void {
    // Without a connection there is no subscription, and ending one is no reason to start a backend.
    if (this.#options.connection.state.kind === 'connected') this.#options.unsubscribe(id).catch(() => undefined);
  }
}
