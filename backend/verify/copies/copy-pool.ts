import { realpath } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { isDiskFull } from '../../common/disk-full.ts';
import { Slices } from '../../common/slices.ts';
import { Slots } from '../../common/slots.ts';
import type { RunFolders } from '../files/run-folder.ts';
import { BuildLayers } from './build-layers.ts';
import type { ContentStore } from './content-store.ts';
import { IdleCopies, IdleCopy } from './idle-copies.ts';
import { KeptWorkspace, type WorkspaceState } from './kept-workspace.ts';
import { PooledWorkspaces, type PooledWorkspace } from './pooled-workspaces.ts';
import { WorkUnderWay } from './work-under-way.ts';
import { WorkspaceCopy } from './workspace-copy.ts';
import { WorkspaceCopyError } from './workspace-listing.ts';

export interface WorkspaceSource {
  /** The folder to copy, absolute. */
  readonly folder: string;
  /** The workspace in which the shared dependencies are installed; `folder` by default. */
  readonly installed?: string;
}

/** The state of a workspace at one moment. Copies are made of it, even if the workspace changes later. */
export interface WorkspaceSnapshot {
  /** SHA-256 of the names, modes and contents of the files in a copy, and of the shared dependencies. */
  readonly fingerprint: string;
  /** The files of a copy; relative, with forward slashes. */
  readonly paths: ReadonlySet<string>;
  /** Files that are left out because of their names: they hold secrets, and Git does not track them. */
  readonly secret: readonly string[];
}

/** The files of a workspace at one moment. */
export interface SnapshotFiles {
  /** Relative, with forward slashes. */
  readonly paths: ReadonlySet<string>;
  /** Undefined for a link, for a file of more than a megabyte, and for one that is not there. */
  text(path: string): string | undefined;
}

/** A copy for one run of the tests, in the state of its snapshot. */
export interface LeasedCopy {
  /** Absolute, without symbolic links. */
  readonly folder: string;
  /** Where the sandbox shows this folder to the tests: the same for all copies. */
  readonly shown: string;
  /** The shared dependency folders, absolute. The sandbox must make them readable. */
  readonly sharedFolders: readonly string[];
  /**
   * Gives the copy back in any state: it is reset before its next use. `reusable` is false if a process may still write to it, as without
   * a sandbox. Then the copy is removed.
   */
  release(options?: { readonly reusable?: boolean }): Promise<void>;
}

export interface CopyPoolOptions {
  readonly folders: RunFolders;
  /** The largest number of copies, leased and idle together. */
  readonly limit?: number;
  /** How long an unused copy or snapshot is kept. */
  readonly idleMs?: number;
  /** Copies have untracked files that hold secrets, too, for tests that need them. */
  readonly withSecrets?: boolean;
}

const IDLE_MS = 5 * 60 * 1_000;
/** While this many copies are leased, tests use all processors, and a reset would slow them down. */
const PROCESSORS = availableParallelism();

/**
 * Makes copies of workspaces, and keeps them for the next run of the tests.
 *
 * A snapshot stores the contents of its files, so copies can be made after the workspace has changed. A returned copy is reset by undoing
 * its changes, shortly afterwards or when a lease needs it. A sandbox cannot access another sandbox's copy, so nothing writes to a copy
 * after its return.
 */
export class CopyPool {
  /** What tool chains have built of the workspaces. */
  readonly layers: BuildLayers;
  readonly #folders: RunFolders;
  readonly #limit: number;
  readonly #idleMs: number;
  readonly #slots: Slots;
  readonly #slices = new Slices();
  readonly #workspaces: PooledWorkspaces;
  readonly #idle = new IdleCopies((copy) => this.#removeCopy(copy));
  readonly #work = new WorkUnderWay();
  readonly #sparesUnderWay = new Set<PooledWorkspace>();
  readonly #closing = new AbortController();
  #leased = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor({ folders, limit = Math.max(4, 2 * availableParallelism()), idleMs = IDLE_MS, withSecrets = false }: CopyPoolOptions) {
    this.#folders = folders;
    this.layers = new BuildLayers(folders);
    this.#limit = limit;
    this.#idleMs = idleMs;
    this.#slots = new Slots(limit);
    this.#workspaces = new PooledWorkspaces({
      create: (base, installed) => KeptWorkspace.create(base, installed, folders, { slices: this.#slices, withSecrets }),
      onLeft: (pooled) => {
        if (this.#isClosed && pooled.users === 0) this.#removeWorkspace(pooled);
        else this.#tidyLater();
      },
    });
  }

  /** The largest number of copies, leased and idle together. */
  get limit(): number {
    return this.#limit;
  }

  /** Reads the workspace as it is now. Throws `WorkspaceCopyError`, or the signal's reason. */
  async snapshot(source: WorkspaceSource, signal: AbortSignal): Promise<WorkspaceSnapshot> {
    signal.throwIfAborted();
    this.#assertOpen();
    return await this.#work.track(this.#snapshot(source, signal));
  }

  /**
   * Reads the workspace as it is now, and keeps the contents of its files until `letGo`, however long nothing uses them. Throws as
   * `snapshot` does.
   */
  async hold(source: WorkspaceSource, signal: AbortSignal): Promise<{ readonly snapshot: WorkspaceSnapshot; readonly letGo: () => void }> {
    signal.throwIfAborted();
    this.#assertOpen();
    const snapshot = await this.#work.track(this.#snapshot(source, signal, (pooled) => (pooled.users += 1)));
    let isHeld = true;
    return {
      snapshot,
      letGo: () => {
        if (isHeld) this.#workspaces.leave(snapshot.pooled);
        isHeld = false;
      },
    };
  }

  /** A clean copy. Waits if too many are leased. Throws `WorkspaceCopyError`, or the signal's reason. */
  async lease(snapshot: WorkspaceSnapshot, signal: AbortSignal): Promise<LeasedCopy> {
    signal.throwIfAborted();
    this.#assertOpen();
    if (!(snapshot instanceof Snapshot)) throw new Error('The snapshot is of another pool.');
    return await this.#work.track(this.#lease(snapshot, signal));
  }

  /**
   * Calls `use` with the files of a snapshot, without a copy. They may be read until it resolves. Snapshots of an unchanged workspace have
   * one object of files, so what is known of it holds for all of them. Throws `WorkspaceCopyError` or what
   * `use` throws.
   */
  async onFiles<Result>(snapshot: WorkspaceSnapshot, use: (files: SnapshotFiles) => Promise<Result>): Promise<Result> {
    this.#assertOpen();
    if (!(snapshot instanceof Snapshot)) throw new Error('The snapshot is of another pool.');
    return await this.#work.track(this.#onFiles(snapshot, use));
  }

  /** Removes all copies. Leased copies are removed when they are returned. */
  async close(): Promise<void> {
    this.#closing.abort(new Error(CLOSED));
    clearTimeout(this.#timer);
    this.#slots.refuse(new Error(CLOSED));
    for (const workspace of this.#workspaces.all) if (workspace.users === 0) this.#removeWorkspace(workspace);
    await this.#work.ended();
    await this.layers.clear();
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** @param onTaken called while its contents cannot be removed yet */
  async #snapshot(source: WorkspaceSource, signal: AbortSignal, onTaken?: (pooled: PooledWorkspace) => void): Promise<Snapshot> {
    const [base, installed] = await realFolders(source);
    const pooled = await this.#workspaces.enter(base, installed);
    try {
      const snapshot = new Snapshot(await pooled.look(signal), pooled);
      if ((await pooled.kept).isMostlyGarbage) this.#workspaces.retire(pooled);
      onTaken?.(pooled);
      return snapshot;
    } catch (error) {
      if (!signal.aborted) this.#workspaces.retire(pooled);
      throw asCopyError(error, signal);
    } finally {
      this.#workspaces.leave(pooled);
    }
  }

  async #onFiles<Result>({ state, pooled }: Snapshot, use: (files: SnapshotFiles) => Promise<Result>): Promise<Result> {
    if (!this.#workspaces.all.has(pooled)) throw new WorkspaceCopyError('The snapshot is too old. Start the verification again.');
    pooled.users += 1;
    try {
      return await use(filesOf(state, (await pooled.kept).contents));
    } finally {
      this.#workspaces.leave(pooled);
    }
  }

  async #lease({ state, pooled }: Snapshot, signal: AbortSignal): Promise<LeasedCopy> {
    if (!this.#workspaces.all.has(pooled)) throw new WorkspaceCopyError('The snapshot is too old. Start the verification again.');
    pooled.users += 1;
    let copy: WorkspaceCopy;
    try {
      await this.#slots.take(signal);
      this.#leased += 1;
      try {
        copy = await this.#cleanCopy(state, pooled, signal);
      } catch (error) {
        this.#giveSlotBack();
        throw error;
      }
    } catch (error) {
      this.#workspaces.leave(pooled);
      throw asCopyError(error, signal);
    }
    let isReleased = false;
    return {
      folder: copy.path,
      shown: copy.shown,
      sharedFolders: state.sharedFolders,
      release: async ({ reusable = true } = {}) => {
        if (isReleased) return;
        isReleased = true;
        if (reusable && !this.#isClosed) this.#keep(copy, pooled, state.bytes);
        else this.#removeCopy(copy);
        this.#giveSlotBack();
        this.#workspaces.leave(pooled);
      },
    };
  }

  async #cleanCopy(state: WorkspaceState, pooled: PooledWorkspace, signal: AbortSignal): Promise<WorkspaceCopy> {
    const { contents } = await pooled.kept;
    const idle = this.#idle.take(pooled);
    if (idle && !idle.isReset) this.#inBackground(this.#makeSpare(state, pooled));
    // A copy that cannot be reset, for any reason, is replaced by a new one.
    if (idle && (await this.#isBroughtTo(idle, state, contents, signal))) return idle.copy;
    while (this.#idle.count > 0 && this.#idle.count + this.#leased > this.#limit) this.#idle.removeOldest();
    return await this.#newCopy(state, contents, signal);
  }

  async #newCopy({ tree }: WorkspaceState, contents: ContentStore, signal: AbortSignal): Promise<WorkspaceCopy> {
    const copy = new WorkspaceCopy(await this.#folders.create(), this.#slices);
    try {
      await copy.bringTo(tree, contents, signal);
      this.#assertOpen();
      return copy;
    } catch (error) {
      this.#removeCopy(copy);
      throw error;
    }
  }

  /** Makes one more copy, up to the limit, so that the next lease does not wait for a reset. */
  async #makeSpare(state: WorkspaceState, pooled: PooledWorkspace): Promise<void> {
    if (this.#sparesUnderWay.has(pooled) || this.#idle.count + this.#leased >= this.#limit) return;
    this.#sparesUnderWay.add(pooled);
    pooled.users += 1;
    try {
      const copy = await this.#newCopy(state, (await pooled.kept).contents, this.#closing.signal);
      if (this.#idle.count + this.#leased < this.#limit) this.#keep(copy, pooled, state.bytes);
      else this.#removeCopy(copy);
    } catch {
      // A spare copy only saves time, so its failure does not matter.
    } finally {
      this.#sparesUnderWay.delete(pooled);
      this.#workspaces.leave(pooled);
    }
  }

  async #isBroughtTo(idle: IdleCopy, state: WorkspaceState, contents: ContentStore, signal: AbortSignal): Promise<boolean> {
    try {
      await idle.reset();
      await idle.copy.bringTo(state.tree, contents, signal);
      this.#assertOpen();
      return true;
    } catch {
      this.#removeCopy(idle.copy);
      signal.throwIfAborted();
      this.#assertOpen();
      return false;
    }
  }

  #giveSlotBack(): void {
    this.#leased -= 1;
    this.#slots.giveBack();
  }

  #keep(copy: WorkspaceCopy, pooled: PooledWorkspace, bytes: number): void {
    const idle = new IdleCopy({ copy, pooled, bytes, reset: () => this.#work.track(copy.settle()) });
    idle.resetLater(() => this.#leased < PROCESSORS, () => this.#idle.remove((other) => other === idle));
    this.#idle.add(idle);
  }

  #removeCopy(copy: WorkspaceCopy): void {
    // If this fails, the folder is removed after this process has ended.
    this.#inBackground(copy.remove());
  }

  #removeWorkspace(pooled: PooledWorkspace): void {
    this.#idle.remove((idle) => idle.pooled === pooled);
    this.#inBackground(this.#workspaces.remove(pooled));
  }

  #inBackground(work: Promise<void>): void {
    this.#work.track(work).catch(() => undefined);
  }

  #tidyLater(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#tidy(performance.now() - this.#idleMs);
    }, this.#idleMs).unref();
  }

  #tidy(unusedSince: number): void {
    this.#idle.remove(({ since }) => since <= unusedSince);
    for (const pooled of this.#workspaces.all)
      if (pooled.users === 0 && pooled.usedAt <= unusedSince && !this.#idle.hasOf(pooled)) this.#removeWorkspace(pooled);
    if (this.#workspaces.all.size > 0) this.#tidyLater();
    else this.#inBackground(this.layers.clear());
  }

  #assertOpen(): void {
    this.#closing.signal.throwIfAborted();
  }
}

const CLOSED = 'No more copies of workspaces are made: the backend is ending.';

class Snapshot implements WorkspaceSnapshot {
  readonly fingerprint: string;
  readonly paths: ReadonlySet<string>;
  readonly secret: readonly string[];
  readonly state: WorkspaceState;
  readonly pooled: PooledWorkspace;

  constructor(state: WorkspaceState, pooled: PooledWorkspace) {
    this.fingerprint = state.fingerprint;
    this.paths = state.paths;
    this.secret = state.secret;
    this.state = state;
    this.pooled = pooled;
  }
}

const FILES = new WeakMap<WorkspaceState['tree'], SnapshotFiles>();

function filesOf({ tree, paths }: WorkspaceState, contents: ContentStore): SnapshotFiles {
  const known = FILES.get(tree);
  if (known) return known;
  const text = (path: string): string | undefined => {
    const entry = paths.has(path) ? tree.entries.get(path) : undefined;
    return entry?.kind === 'file' ? contents.readSmall(entry.content)?.toString('utf8') : undefined;
  };
  const files = { paths, text };
  FILES.set(tree, files);
  return files;
}

async function realFolders({ folder, installed = folder }: WorkspaceSource): Promise<[base: string, installed: string]> {
  try {
    return [await realpath(folder), await realpath(installed)];
  } catch (error) {
    throw new WorkspaceCopyError(`The workspace cannot be read: ${(error as Error).message}.`);
  }
}

/** The signal's reason, or the error with a text that says what failed. */
function asCopyError(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  const { errno, message } = error as NodeJS.ErrnoException;
  if (errno === undefined) return error;
  const advice = isDiskFull(error) ? ' Free space on that disk.' : '';
  return new WorkspaceCopyError(`The workspace cannot be copied for its tests: ${message}.${advice}`);
}
