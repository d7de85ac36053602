import { execFile } from 'node:child_process';
import { chmod, lstat, mkdir, mkdtemp, readdir, realpath, utimes } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { removeTree } from './remove-tree.ts';

/** No folder of a run has this name: those begin with the id of a process. */
const SHOWN = 'workspace';

const OLDEST_MS = 24 * 60 * 60 * 1_000;

/** The folders of one run of the tests. All of them are gone after `remove`. */
export interface RunFolder {
  /** Absolute, without symbolic links. */
  readonly root: string;
  /** The place of the workspace's copy. It does not exist yet. */
  readonly workspace: string;
  /** Makes that place an empty folder and returns it. */
  makeWorkspace(): Promise<string>;
  /** Where a sandbox shows that place to what runs in it: the same for all runs. Outside, nothing is there. */
  readonly shown: string;
  /** The tests' HOME and TMPDIR. */
  readonly temporary: string;
  /** The runner writes its report here. */
  readonly report: string;
  /** Our files for the runner, such as a reporter. The tests cannot write here. */
  readonly tools: string;
  /** Marks a folder that is kept for long as in use: `sweep` removes folders that were not touched for a day. */
  touch(): Promise<void>;
  remove(): Promise<void>;
}

/**
 * Creates and removes the folders that verification works in. All are inside `root` (absolute), which only this user can access.
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
    // By the process id, a later process recognizes left-over folders.
    const root = await realpath(await mkdtemp(path.join(this.root, `${process.pid}-`)));
    const folder = (name: string): string => path.join(root, name);
    for (const name of ['temporary', 'report', 'tools']) await mkdir(folder(name), { mode: 0o700 });
    return {
      root,
      workspace: folder('workspace'),
      makeWorkspace: async () => {
        await mkdir(folder('workspace'), { mode: 0o700 });
        return folder('workspace');
      },
      shown: path.join(path.dirname(root), SHOWN),
      temporary: folder('temporary'),
      report: folder('report'),
      tools: folder('tools'),
      touch: () => utimes(root, new Date(), new Date()),
      remove: () => removeTree(root),
    };
  }

  /** Removes the folders of processes that have ended. Returns their number. */
  async sweep(): Promise<number> {
    await this.#ensureRoot();
    let removed = 0;
    for (const name of await readdir(this.root)) {
      const pid = Number(/^(\d+)-/.exec(name)?.[1] ?? Number.NaN);
      if (Number.isNaN(pid)) continue;
      const folder = path.join(this.root, name);
      const found = await lstat(folder).catch(() => undefined);
      // The id of a dead process may belong to another process now, so age counts, too. Our own folders are never old.
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
    // In a shared temporary folder, another user may have created it first.
    if (!found.isDirectory() || (process.getuid && found.uid !== process.getuid())) {
      throw new Error(`${this.root} belongs to another user: remove it, or point TMPDIR at a folder of your own.`);
    }
    if (process.getuid && (found.mode & 0o077) !== 0) await chmod(this.root, 0o700);
    if (this.#isSpreadOut && made === undefined) return;
    this.#isSpreadOut = true;
    await spreadOut(this.root);
    await openToLowIntegrity(this.root);
  }
}

/**
 * Makes ext4 put each folder in `root` into another block group. By default they share one, and for some minutes after many deletions ext4
 * skips the deleted files one by one for each new file. Creating files then takes about thirty times as long. On other file systems this
 * does nothing.
 */
async function spreadOut(root: string): Promise<void> {
  if (process.platform !== 'linux') return;
  await promisify(execFile)('chattr', ['+T', '--', root]).catch(() => undefined);
}

/**
 * On Windows, lets processes of low integrity write what is made in `root` from now on, as far as the user may. See `sandbox/windows/integrity.ts`, which tries out whether it has worked.
 */
async function openToLowIntegrity(root: string): Promise<void> {
  if (process.platform !== 'win32') return;
  await promisify(execFile)('icacls', [root, '/setintegritylevel', '(OI)(CI)L'], { windowsHide: true }).catch(() => undefined);
}
