import { SerialQueue } from '../../common/serial-queue.ts';
import type { KeptWorkspace, WorkspaceState } from './kept-workspace.ts';

/** A workspace that a pool takes snapshots of and copies. */
export class PooledWorkspace {
  readonly key: string;
  readonly kept: Promise<KeptWorkspace>;
  /** Running snapshots, and leases that are pending or not returned. */
  users = 0;
  usedAt = performance.now();
  readonly #looks = new SerialQueue();

  constructor(key: string, kept: Promise<KeptWorkspace>) {
    this.key = key;
    this.kept = kept;
    kept.catch(() => undefined);
  }

  /** Reads the workspace. Calls run one after the other, because concurrent ones would read the same files. */
  look(signal: AbortSignal): Promise<WorkspaceState> {
    return this.#looks.run(async () => await (await this.kept).look(signal));
  }
}

export interface PooledWorkspacesParts {
  /** Both folders are absolute and without symbolic links. */
  readonly create: (base: string, installed: string) => Promise<KeptWorkspace>;
  readonly onLeft: (pooled: PooledWorkspace) => void;
}

/** The workspaces of a pool. */
export class PooledWorkspaces {
  readonly #parts: PooledWorkspacesParts;
  readonly #all = new Set<PooledWorkspace>();
  /** The workspaces for new snapshots, by key. */
  readonly #current = new Map<string, PooledWorkspace>();

  constructor(parts: PooledWorkspacesParts) {
    this.#parts = parts;
  }

  get all(): ReadonlySet<PooledWorkspace> {
    return this.#all;
  }

  /** Returns the workspace for a snapshot. The caller counts as its user and must call `leave`. */
  async enter(base: string, installed: string): Promise<PooledWorkspace> {
    const key = `${base}\0${installed}`;
    const before = this.#current.get(key);
    if (before) {
      before.users += 1;
      if (await before.kept.then(({ contents }) => contents.touch()).then(() => true, () => false)) return before;
      // Its folder was deleted.
      this.retire(before);
      this.leave(before);
    }
    // Another snapshot may have created it meanwhile.
    const pooled = this.#current.get(key) ?? new PooledWorkspace(key, this.#parts.create(base, installed));
    pooled.users += 1;
    this.#current.set(key, pooled);
    this.#all.add(pooled);
    return pooled;
  }

  leave(pooled: PooledWorkspace): void {
    pooled.users -= 1;
    pooled.usedAt = performance.now();
    this.#parts.onLeft(pooled);
  }

  /** Takes no more snapshots of it. Copies of its existing snapshots can still be leased. */
  retire(pooled: PooledWorkspace): void {
    if (this.#current.get(pooled.key) === pooled) this.#current.delete(pooled.key);
  }

  /** Removes it and its stored contents on disk. */
  async remove(pooled: PooledWorkspace): Promise<void> {
    this.#all.delete(pooled);
    this.retire(pooled);
    await (await pooled.kept).contents.remove();
  }
}
