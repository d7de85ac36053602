import { randomUUID } from 'node:crypto';
import type { RunFolder, RunFolders } from './run-folder.ts';
import { copyWorkspace, type WorkspaceCopy } from './workspace-copy.ts';

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
  /** Gives the copy back, in whatever state: it is reset before the next one gets it. */
  release(): Promise<void>;
}

/** Makes copies of workspaces, and keeps them for the next run of the tests. */
export class CopyPool {
  readonly #folders: RunFolders;
  readonly #masters = new Map<string, { folder: RunFolder; copy: WorkspaceCopy }>();

  constructor({ folders }: { readonly folders: RunFolders }) {
    this.#folders = folders;
  }

  /** Looks at the workspace as it is now. Throws `WorkspaceCopyError`, or the signal's reason. */
  async snapshot(source: WorkspaceSource, signal: AbortSignal): Promise<WorkspaceSnapshot> {
    const folder = await this.#folders.create();
    const copy = await copyWorkspace(source.folder, folder.workspace, signal);
    const fingerprint = `${copy.fingerprint} ${randomUUID()}`;
    this.#masters.set(fingerprint, { folder, copy });
    return { fingerprint, paths: new Set() };
  }

  /** A clean copy, which waits for one to come back where too many are in use. Throws the signal's reason. */
  async lease(snapshot: WorkspaceSnapshot, signal: AbortSignal): Promise<LeasedCopy> {
    signal.throwIfAborted();
    const master = this.#masters.get(snapshot.fingerprint);
    if (!master) throw new Error('The snapshot is of another pool.');
    const folder = await this.#folders.create();
    await master.copy.cloneTo(folder.workspace);
    return { folder: folder.workspace, sharedFolders: master.copy.sharedFolders, release: () => folder.remove() };
  }

  /** Removes every copy. */
  async close(): Promise<void> {
    await Promise.all([...this.#masters.values()].map(({ folder }) => folder.remove()));
  }
}
