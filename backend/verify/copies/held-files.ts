import type { CopyPool, WorkspaceSnapshot, WorkspaceSource } from './copy-pool.ts';

/**
 * The files of a folder as they were when they were held, for work that lasts longer than people leave their files alone. Nothing is copied
 * while the folder stays as it was.
 */
export class HeldFiles {
  readonly snapshot: WorkspaceSnapshot;
  readonly #copies: CopyPool;
  readonly #source: WorkspaceSource;
  readonly #letGo: () => void;
  #hasChanged = false;

  private constructor(copies: CopyPool, source: WorkspaceSource, held: { readonly snapshot: WorkspaceSnapshot; readonly letGo: () => void }) {
    this.#copies = copies;
    this.#source = source;
    this.snapshot = held.snapshot;
    this.#letGo = held.letGo;
  }

  /** Throws `WorkspaceCopyError`, or the signal's reason. */
  static async of(copies: CopyPool, source: WorkspaceSource, signal: AbortSignal): Promise<HeldFiles> {
    return new HeldFiles(copies, source, await copies.hold(source, signal));
  }

  /**
   * Calls `use` with a folder (absolute) that has these files: the folder itself, or a copy once it has changed. Where it changes while
   * `use` reads it, `use` is called again. Throws what `use` throws, `WorkspaceCopyError`, or the signal's reason.
   */
  async read<Result>(use: (folder: string) => Promise<Result>, signal: AbortSignal): Promise<Result> {
    if (!this.#hasChanged) {
      const [used] = await Promise.allSettled([use(this.#source.folder)]);
      this.#hasChanged ||= (await this.#copies.snapshot(this.#source, signal)).fingerprint !== this.snapshot.fingerprint;
      if (used.status === 'fulfilled' && !this.#hasChanged) return used.value;
      if (used.status === 'rejected' && !this.#hasChanged) throw used.reason;
    }
    return await this.copied(use, signal);
  }

  /** Calls `use` with a private copy of these files (absolute), which it may change. Throws as `read`. */
  async copied<Result>(use: (folder: string) => Promise<Result>, signal: AbortSignal): Promise<Result> {
    const copy = await this.#copies.lease(this.snapshot, signal);
    try {
      return await use(copy.folder);
    } finally {
      await copy.release();
    }
  }

  /** The snapshot may be forgotten from now on. */
  letGo(): void {
    this.#letGo();
  }
}

/** Calls `use` with a folder that has the held files, or, where none are held, with `folder` as it is now. Throws as `HeldFiles.read`. */
export async function readFiles<Result>(
  { folder, held, signal }: { readonly folder: string; readonly held: HeldFiles | undefined; readonly signal: AbortSignal }, use: (folder: string) => Promise<Result>,
): Promise<Result> {
  return held ? await held.read(use, signal) : await use(folder);
}

/** The snapshot that is held, or else one of the files as they are now. Throws as `CopyPool.snapshot`. */
export async function snapshotOf(
  copies: CopyPool, { held, ...source }: WorkspaceSource & { readonly held?: HeldFiles | undefined }, signal: AbortSignal,
): Promise<WorkspaceSnapshot> {
  return held?.snapshot ?? (await copies.snapshot(source, signal));
}
