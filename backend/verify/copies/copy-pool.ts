import { realpath } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import type { ContentStore } from './content-store.ts';
import { KeptWorkspace, type WorkspaceState } from './kept-workspace.ts';
import type { RunFolders } from '../files/run-folder.ts';
import { Slices } from '../../common/slices.ts';
import { Slots } from '../../common/slots.ts';
import { WorkspaceCopy } from './workspace-copy.ts';
import { WorkspaceCopyError } from './workspace-listing.ts';

export interface WorkspaceSource {
  /** What is copied, absolute. */
  readonly folder: string;
  /** The workspace in which dependencies are installed, which are shared; `folder` itself if absent. */
  readonly installed?: string;
}

/** The state of a workspace at one moment: what copies are made of, however the workspace goes on. */
export interface WorkspaceSnapshot {
  /** SHA-256 over names, modes and contents of what belongs to a copy, and over what is shared. */
  readonly fingerprint: string;
  /** The files of a copy; relative, with forward slashes. */
  readonly paths: ReadonlySet<string>;
}

/** A copy for one run of the tests, in the state of its snapshot. */
export interface LeasedCopy {
  /** Absolute, without symbolic links. */
  readonly folder: string;
  /** The shared dependency folders, absolute: the sandbox must let them be read. */
  readonly sharedFolders: readonly string[];
  /**
   * Gives the copy back, in whatever state: it is reset before the next one gets it. `reusable` is false where something may still
   * be at work in it, as without a sandbox: then it is removed.
   */
  release(options?: { readonly reusable?: boolean }): Promise<void>;
}

export interface CopyPoolOptions {
  readonly folders: RunFolders;
  /** How many copies there may be at once, in use or kept for the next use. */
  readonly limit?: number;
  /** How long a copy or a snapshot is kept that nobody uses. */
  readonly idleMs?: number;
}

const IDLE_MS = 5 * 60 * 1_000;
/** What follows a run of the tests is, as a rule, another one: resetting the first one's copy would hold up how that begins. */
const SETTLE_AFTER_MS = 100;
/** While tests keep all of these busy, a reset would hold them up. */
const PROCESSORS = availableParallelism();
const MAX_IDLE_BYTES = 4 * 1024 ** 3;

/**
 * Makes copies of workspaces, and keeps them for the next run of the tests.
 *
 * A snapshot keeps the contents of its files, so that a copy can be made of it whatever becomes of the workspace. A copy that comes
 * back is reset by what changed: a moment later, while tests run in others, or as soon as somebody has to wait for it. No sandbox sees
 * another one's copy, so nothing touches it from then on.
 */
export class CopyPool {
  readonly #folders: RunFolders;
  readonly #limit: number;
  readonly #idleMs: number;
  readonly #slots: Slots;
  readonly #slices = new Slices();
  readonly #workspaces = new Set<PooledWorkspace>();
  /** The one that the next snapshot is taken with, by source. */
  readonly #current = new Map<string, PooledWorkspace>();
  /** The one that came back last at the end. */
  readonly #idle: IdleCopy[] = [];
  readonly #underWay = new Set<Promise<unknown>>();
  #leased = 0;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor({ folders, limit = Math.max(4, 2 * availableParallelism()), idleMs = IDLE_MS }: CopyPoolOptions) {
    this.#folders = folders;
    this.#limit = limit;
    this.#idleMs = idleMs;
    this.#slots = new Slots(limit);
  }

  /** Looks at the workspace as it is now. Throws `WorkspaceCopyError`, or the signal's reason. */
  async snapshot(source: WorkspaceSource, signal: AbortSignal): Promise<WorkspaceSnapshot> {
    signal.throwIfAborted();
    this.#assertOpen();
    return await this.#track(this.#snapshot(source, signal));
  }

  /** A clean copy, which waits for one to come back where too many are in use. Throws `WorkspaceCopyError`, or the signal's reason. */
  async lease(snapshot: WorkspaceSnapshot, signal: AbortSignal): Promise<LeasedCopy> {
    signal.throwIfAborted();
    this.#assertOpen();
    if (!(snapshot instanceof Snapshot)) throw new Error('The snapshot is of another pool.');
    return await this.#track(this.#lease(snapshot, signal));
  }

  /** Removes every copy; those in use when they come back. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#slots.refuse(new Error(CLOSED));
    for (const workspace of this.#workspaces) if (workspace.users === 0) this.#removeWorkspace(workspace);
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
  }

  async #snapshot(source: WorkspaceSource, signal: AbortSignal): Promise<Snapshot> {
    const [base, installed] = await realFolders(source);
    const pooled = await this.#workspaceFor(base, installed);
    try {
      // A second look at a time would read the same again.
      const look = pooled.lastLook.then(async () => await (await pooled.workspace).look(signal));
      pooled.lastLook = look.catch(() => undefined);
      const snapshot = new Snapshot(await look, pooled);
      if ((await pooled.workspace).isMostlyGarbage) this.#retire(pooled);
      return snapshot;
    } catch (error) {
      if (!signal.aborted) this.#retire(pooled);
      throw asCopyError(error, signal);
    } finally {
      this.#leave(pooled);
    }
  }

  async #lease({ state, pooled }: Snapshot, signal: AbortSignal): Promise<LeasedCopy> {
    if (!this.#workspaces.has(pooled)) throw new WorkspaceCopyError('The copy was asked for too late. Start the verification anew.');
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
      this.#leave(pooled);
      throw asCopyError(error, signal);
    }
    let isReleased = false;
    return {
      folder: copy.path,
      sharedFolders: state.sharedFolders,
      release: async ({ reusable = true } = {}) => {
        if (isReleased) return;
        isReleased = true;
        if (reusable && !this.#isClosed) this.#keep(copy, pooled, state.bytes);
        else this.#removeCopy(copy);
        this.#giveSlotBack();
        this.#leave(pooled);
      },
    };
  }

  async #cleanCopy(state: WorkspaceState, pooled: PooledWorkspace, signal: AbortSignal): Promise<WorkspaceCopy> {
    const { contents } = await pooled.workspace;
    const idle = this.#takeIdle(pooled);
    if (idle && !idle.isSettled) void this.#track(this.#makeSpare(state, pooled));
    // What cannot be brought back, for whatever reason, gives way to a new one.
    if (idle && (await this.#isBroughtTo(idle, state, contents, signal))) return idle.copy;
    while (this.#idle.length > 0 && this.#idle.length + this.#leased > this.#limit) this.#removeOldest();
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

  /** One more copy, where there may be one: somebody has to wait until one is reset, and the next time nobody should. */
  async #makeSpare(state: WorkspaceState, pooled: PooledWorkspace): Promise<void> {
    if (pooled.isSpareUnderWay || this.#idle.length + this.#leased >= this.#limit) return;
    pooled.isSpareUnderWay = true;
    pooled.users += 1;
    try {
      const copy = await this.#newCopy(state, (await pooled.workspace).contents, new AbortController().signal);
      if (this.#idle.length + this.#leased < this.#limit) this.#keep(copy, pooled, state.bytes);
      else this.#removeCopy(copy);
    } catch {
      // It would only have saved time.
    } finally {
      pooled.isSpareUnderWay = false;
      this.#leave(pooled);
    }
  }

  /** The one that came back last, and better one that is reset already. */
  #takeIdle(pooled: PooledWorkspace): IdleCopy | undefined {
    const own = this.#idle.filter((idle) => idle.pooled === pooled);
    const chosen = own.findLast(({ isSettled }) => isSettled) ?? own.at(-1);
    if (chosen) this.#idle.splice(this.#idle.indexOf(chosen), 1);
    return chosen;
  }

  async #isBroughtTo(idle: IdleCopy, state: WorkspaceState, contents: ContentStore, signal: AbortSignal): Promise<boolean> {
    try {
      await idle.settle();
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

  /** With one user more. */
  async #workspaceFor(base: string, installed: string): Promise<PooledWorkspace> {
    const key = `${base}\0${installed}`;
    const before = this.#current.get(key);
    if (before) {
      before.users += 1;
      if (await before.workspace.then(({ contents }) => contents.touch()).then(() => true, () => false)) return before;
      // Somebody has tidied up.
      this.#retire(before);
      this.#leave(before);
    }
    // Meanwhile another snapshot may have begun anew.
    const other = this.#current.get(key);
    const pooled = other ?? {
      key,
      workspace: KeptWorkspace.create(base, installed, this.#folders, this.#slices),
      users: 0,
      isSpareUnderWay: false,
      usedAt: performance.now(),
      lastLook: Promise.resolve(),
    };
    pooled.workspace.catch(() => undefined);
    pooled.users += 1;
    this.#current.set(key, pooled);
    this.#workspaces.add(pooled);
    return pooled;
  }

  /** Snapshots that were taken with it can still be leased. */
  #retire(pooled: PooledWorkspace): void {
    if (this.#current.get(pooled.key) === pooled) this.#current.delete(pooled.key);
  }

  #leave(pooled: PooledWorkspace): void {
    pooled.users -= 1;
    pooled.usedAt = performance.now();
    if (this.#isClosed && pooled.users === 0) this.#removeWorkspace(pooled);
    else this.#tidyLater();
  }

  #giveSlotBack(): void {
    this.#leased -= 1;
    this.#slots.giveBack();
  }

  #keep(copy: WorkspaceCopy, pooled: PooledWorkspace, bytes: number): void {
    const idle = new IdleCopy(copy, pooled, bytes, () => this.#track(copy.settle()));
    idle.settleLater(() => this.#leased < PROCESSORS, () => this.#removeIdle((other) => other === idle));
    this.#idle.push(idle);
    while (this.#idle.length > 1 && this.#idle.reduce((sum, one) => sum + one.bytes, 0) > MAX_IDLE_BYTES) this.#removeOldest();
  }

  #removeOldest(): void {
    const [oldest] = this.#idle;
    if (oldest) this.#removeIdle((idle) => idle === oldest);
  }

  #removeCopy(copy: WorkspaceCopy): void {
    // What cannot be removed now is swept when we are gone.
    void this.#track(copy.remove().catch(() => undefined));
  }

  #removeWorkspace(pooled: PooledWorkspace): void {
    this.#workspaces.delete(pooled);
    this.#retire(pooled);
    this.#removeIdle((idle) => idle.pooled === pooled);
    void this.#track(pooled.workspace.then(({ contents }) => contents.remove()).catch(() => undefined));
  }

  #removeIdle(isToGo: (idle: IdleCopy) => boolean): void {
    for (const idle of this.#idle.filter(isToGo)) {
      this.#idle.splice(this.#idle.indexOf(idle), 1);
      idle.leaveAlone();
      this.#removeCopy(idle.copy);
    }
  }

  #tidyLater(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#tidy(performance.now() - this.#idleMs);
    }, this.#idleMs).unref();
  }

  #tidy(unusedSince: number): void {
    this.#removeIdle(({ since }) => since <= unusedSince);
    for (const pooled of this.#workspaces) {
      const isKept = this.#idle.some((idle) => idle.pooled === pooled);
      if (pooled.users === 0 && pooled.usedAt <= unusedSince && !isKept) this.#removeWorkspace(pooled);
    }
    if (this.#workspaces.size > 0) this.#tidyLater();
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new Error(CLOSED);
  }

  async #track<Result>(work: Promise<Result>): Promise<Result> {
    this.#underWay.add(work);
    try {
      return await work;
    } finally {
      this.#underWay.delete(work);
    }
  }
}

const CLOSED = 'Copies of workspaces are made no more: the backend is ending.';

interface PooledWorkspace {
  readonly key: string;
  readonly workspace: Promise<KeptWorkspace>;
  /** Snapshots being taken, and leases that are waited for or not given back. */
  users: number;
  isSpareUnderWay: boolean;
  usedAt: number;
  lastLook: Promise<unknown>;
}

/** A copy that waits for its next use. */
class IdleCopy {
  readonly copy: WorkspaceCopy;
  readonly pooled: PooledWorkspace;
  readonly bytes: number;
  readonly since = performance.now();
  readonly #reset: () => Promise<void>;
  #settling: Promise<void> | undefined;
  #isSettled = false;
  #soon: NodeJS.Timeout | undefined;

  constructor(copy: WorkspaceCopy, pooled: PooledWorkspace, bytes: number, reset: () => Promise<void>) {
    this.copy = copy;
    this.pooled = pooled;
    this.bytes = bytes;
    this.#reset = reset;
  }

  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Resets it in a moment, or in the first that `isGood`, unless somebody has taken it until then. */
  settleLater(isGood: () => boolean, onBeyondRepair: () => void): void {
    this.#soon = setTimeout(() => {
      if (isGood()) void this.settle().catch(onBeyondRepair);
      else this.settleLater(isGood, onBeyondRepair);
    }, SETTLE_AFTER_MS).unref();
  }

  /** Resets it now. Rejects where it is beyond repair. */
  async settle(): Promise<void> {
    this.leaveAlone();
    this.#settling ??= this.#reset();
    await this.#settling;
    this.#isSettled = true;
  }

  /** It is not reset any more, as it is to be removed. */
  leaveAlone(): void {
    clearTimeout(this.#soon);
  }
}

class Snapshot implements WorkspaceSnapshot {
  readonly fingerprint: string;
  readonly paths: ReadonlySet<string>;
  readonly state: WorkspaceState;
  readonly pooled: PooledWorkspace;

  constructor(state: WorkspaceState, pooled: PooledWorkspace) {
    this.fingerprint = state.fingerprint;
    this.paths = state.paths;
    this.state = state;
    this.pooled = pooled;
  }
}

async function realFolders({ folder, installed = folder }: WorkspaceSource): Promise<[base: string, installed: string]> {
  try {
    return [await realpath(folder), await realpath(installed)];
  } catch (error) {
    throw new WorkspaceCopyError(`The workspace cannot be read: ${(error as Error).message}.`);
  }
}

/** The signal's reason, or the error as one that says what it was about. */
function asCopyError(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  const { errno, code = '', message } = error as NodeJS.ErrnoException;
  if (errno === undefined) return error;
  const advice = ['ENOSPC', 'EDQUOT'].includes(code) ? ' Make room on the disk that holds it.' : '';
  return new WorkspaceCopyError(`The workspace cannot be copied for its tests: ${message}.${advice}`);
}
