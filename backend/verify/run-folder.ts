import { chmod, lstat, mkdir, mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
import path from 'node:path';

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
  remove(): Promise<void>;
}

/**
 * Makes and clears away the folders that verification works in, all inside `root` (absolute), which belongs to this user alone.
 */
export class RunFolders {
  readonly root: string;
  readonly #isProcessAlive: (pid: number) => boolean;

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
    await mkdir(this.root, { recursive: true, mode: 0o700 });
    const found = await lstat(this.root);
    // In a shared temporary folder somebody else may have made it first.
    if (!found.isDirectory() || (process.getuid && found.uid !== process.getuid())) {
      throw new Error(`${this.root} belongs to another user: remove it, or point TMPDIR at a folder of your own.`);
    }
    if (process.getuid && (found.mode & 0o077) !== 0) await chmod(this.root, 0o700);
  }
}

/** Removes a folder even if a test has taken the rights away from parts of it. */
async function removeTree(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
  } catch (error) {
    if (!['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    await makeWritable(folder);
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
  }
}

async function makeWritable(folder: string): Promise<void> {
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await makeWritable(path.join(folder, entry.name));
  }
}
