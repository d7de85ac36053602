import { execFile } from 'node:child_process';
import { chmod, lstat, mkdir, mkdtemp, readdir, realpath, utimes } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { removeTree } from './remove-tree.ts';

const OLDEST_MS = 24 * 60 * 60 * 1_000;

/** The folders of one run of the tests. All of them are gone after `remove`. */
export interface RunFolder {
  /** Absolute, without symbolic links. */
  readonly root: string;
  /** Where the copy of the workspace goes; not made yet. */
  readonly workspace: string;
  /** The tests' home and temporary folder. */
  readonly temporary: string;
  /** Where the runner writes its report. */
  readonly report: string;
  /** What we give the runner to read, such as a reporter; the tests cannot write it. */
  readonly tools: string;
  /** Says that it is still in use, for one that is kept for long: `sweep` takes what has not been touched for a day for left over. */
  touch(): Promise<void>;
  remove(): Promise<void>;
}

/**
 * Makes and clears away the folders that verification works in, all inside `root` (absolute), which belongs to this user alone.
 */
export class RunFolders {
  readonly root: string;
  readonly #isProcessAlive: (pid: number) => boolean;
  #isSpreadOut = false;

  constructor(root: string, isProcessAlive: (pid: number) => boolean) {
    this.root = root;
    this.#isProcessAlive = isProcessAlive;
  }

  async create(): Promise<RunFolder> {
    await this.#ensureRoot();
    // The process id in the name lets a later process see whose folders are left over.
    const root = await realpath(await mkdtemp(path.join(this.root, `${process.pid}-`)));
    const folder = (name: string): string => path.join(root, name);
    for (const name of ['temporary', 'report', 'tools']) await mkdir(folder(name), { mode: 0o700 });
    return {
      root,
      workspace: folder('workspace'),
      temporary: folder('temporary'),
      report: folder('report'),
      tools: folder('tools'),
      touch: () => utimes(root, new Date(), new Date()),
      remove: () => removeTree(root),
    };
  }

  /** Removes what processes that are gone have left behind. Returns how many folders that were. */
  async sweep(): Promise<number> {
    await this.#ensureRoot();
    let removed = 0;
    for (const name of await readdir(this.root)) {
      const pid = Number(/^(\d+)-/.exec(name)?.[1] ?? Number.NaN);
      if (Number.isNaN(pid)) continue;
      const folder = path.join(this.root, name);
      const found = await lstat(folder).catch(() => undefined);
      // The id of a dead process may have been given to another one, so age counts too; our own are never old.
      const isStale = found?.isDirectory() && pid !== process.pid && (!this.#isProcessAlive(pid) || Date.now() - found.mtimeMs > OLDEST_MS);
      if (!isStale) continue;
      await removeTree(folder);
      removed += 1;
    }
    return removed;
  }

  async #ensureRoot(): Promise<void> {
    const made = await mkdir(this.root, { recursive: true, mode: 0o700 });
    const found = await lstat(this.root);
    // In a shared temporary folder somebody else may have made it first.
    if (!found.isDirectory() || (process.getuid && found.uid !== process.getuid())) {
      throw new Error(`${this.root} belongs to another user: remove it, or point TMPDIR at a folder of your own.`);
    }
    if (process.getuid && (found.mode & 0o077) !== 0) await chmod(this.root, 0o700);
    if (this.#isSpreadOut && made === undefined) return;
    this.#isSpreadOut = true;
    await spreadOut(this.root);
  }
}

/**
 * Lets ext4 put each folder in `root` into another part of the disk. By default they all share one, and for some minutes ext4
 * passes over every file that was removed from a part to place each new one there: what is made after much has been removed takes
 * some thirty times as long. Elsewhere it does nothing.
 */
async function spreadOut(root: string): Promise<void> {
  if (process.platform !== 'linux') return;
  await promisify(execFile)('chattr', ['+T', '--', root]).catch(() => undefined);
}
