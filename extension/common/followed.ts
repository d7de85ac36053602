import { messageOf, type BackendConnection } from './backend-connection.ts';

/** Where the id of what is open outlives a reload of the window. */
interface Memory {
  readonly id: string | undefined;
  readonly remember: (id: string | undefined) => void;
}

export interface FollowedOptions<Snapshot> {
  readonly connection: Pick<BackendConnection, 'connected' | 'state'>;
  readonly memory: Memory;
  readonly subscribe: (id: string) => Promise<Snapshot>;
  readonly unsubscribe: (id: string) => Promise<unknown>;
  /** Another snapshot has come, or what was open could not be followed at all and is closed. */
  readonly onSnapshot: () => void;
  /** It cannot be followed; a sentence that says why. */
  readonly onProblem: (message: string) => void;
}

interface Open<Snapshot> {
  readonly id: string;
  snapshot?: Snapshot;
  /** Set while a snapshot is on its way: what comes meanwhile waits for it, so that nothing is folded into an older one. */
  waiting?: ((snapshot: Snapshot) => Snapshot)[];
}

/** What the backend owns and the window shows: one at a time, kept up to date from a snapshot and the changes since, over every connection. */
export class Followed<Snapshot extends { readonly seq: number }> {
  readonly #options: FollowedOptions<Snapshot>;
  #open: Open<Snapshot> | undefined;

  constructor(options: FollowedOptions<Snapshot>) {
    this.#options = options;
    const { connection, memory: { id } } = options;
    if (id !== undefined) this.#open = { id };
    connection.connected.on(() => void this.#followAgain());
  }

  get id(): string | undefined {
    return this.#open?.id;
  }

  /** As of now; undefined where nothing is open or its first snapshot is still on the way. */
  get snapshot(): Snapshot | undefined {
    return this.#open?.snapshot;
  }

  /** Whether a snapshot is on its way. */
  get isWaiting(): boolean {
    return this.#open?.waiting !== undefined;
  }

  /** @throws what `subscribe` throws, and then what was open is open again */
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
    // Another one may have been opened, or this one closed, while the snapshot was on its way.
    if (this.#open === open) this.#options.memory.remember(id);
    return snapshot;
  }

  close(): void {
    const before = this.#open;
    this.#open = undefined;
    this.#options.memory.remember(undefined);
    if (before) this.#unfollow(before.id);
  }

  /**
   * Folds a change of what is open into its snapshot, or keeps it for the one that is on its way. `seq`: the number of the change, where it has one:
   * a gap before it means that something was missed, which the backend's own snapshot has. Returns whether it was folded in.
   */
  change(change: (snapshot: Snapshot) => Snapshot, seq?: number): boolean {
    const open = this.#open;
    if (open?.snapshot && !open.waiting && seq !== undefined && seq > open.snapshot.seq + 1) void this.#followAgain();
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

  async #followAgain(): Promise<void> {
    const open = this.#open;
    if (!open || open.waiting) return;
    try {
      await this.#follow(open);
    } catch (error) {
      if (this.#open !== open) return;
      if (!open.snapshot) {
        this.close();
        this.#options.onSnapshot();
      }
      this.#options.onProblem(messageOf(error));
    }
  }

  #unfollow(id: string): void {
    // Without a connection there is no subscription either, and nothing to start a backend for.
    if (this.#options.connection.state.kind === 'connected') this.#options.unsubscribe(id).catch(() => undefined);
  }
}
