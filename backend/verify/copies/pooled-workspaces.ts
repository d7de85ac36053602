import { SerialQueue } from '../../common/serial-queue.ts';
import type { KeptWorkspace, WorkspaceState } from './kept-workspace.ts';

/** A workspace of which snapshots are taken and copies are made. */
export class PooledWorkspace {
  readonly key: string;
  readonly kept: Promise<KeptWorkspace>;
  /** Snapshots under way, and leases that are waited for or not given back. */
  users = 0;
  usedAt = performance.now();
  readonly #looks = new SerialQueue();

  constructor(key: string, kept: Promise<KeptWorkspace>) {
    this.key = key;
    this.kept = kept;
    kept.catch(() => undefined);
  }

  /** Reads the workspace. Looks take turns, because two at a time would read the same files. */
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
  /** The workspaces that the next snapshots are taken of, by key. */
  readonly #current = new Map<string, PooledWorkspace>();

  constructor(parts: PooledWorkspacesParts) {
    this.#parts = parts;
  }

  get all(): ReadonlySet<PooledWorkspace> {
    return this.#all;
  }

  /** The workspace for a snapshot. The caller becomes a user of it, and has to leave it. */
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
    // Another snapshot may have created it in the meantime.
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

  /** No new snapshot is taken of it. Copies of its snapshots can still be leased. */
  retire(pooled: PooledWorkspace): void {
    if (this.#current.get(pooled.key) === pooled) this.#current.delete(pooled.key);
  }

  /** Forgets it, and removes its contents from the disk. */
  async remove(pooled: PooledWorkspace): Promise<void> {
    this.#all.delete(pooled);
    this.retire(pooled);
    await (await pooled.kept).contents.remove();
  }
}
