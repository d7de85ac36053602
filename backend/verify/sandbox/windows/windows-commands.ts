import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { RunFolders } from '../../files/run-folder.ts';
import { defaultLimits } from '../limits/limits.ts';
import type { ProcessOutcome } from '../process-group.ts';
import type { SandboxAvailability } from '../sandbox-availability.ts';
import { shellQuote } from '../shell-quote.ts';
import { windowsIsolation } from './isolation.ts';
import { runInJob, type JobCommand } from './run-in-job.ts';
import type { Variables } from './windows-environment.ts';

const PATIENCE_MS = 30_000;

/**
 * Runs commands on Windows, in a job object, without a sandbox. They may write only to the folders of runs where Windows keeps to that; whether it
 * does is tried out once.
 */
export class WindowsCommands {
  readonly #folders: RunFolders;
  readonly #own: Variables;
  #isLow: Promise<boolean> | undefined;

  /** @param own our own environment */
  constructor(folders: RunFolders, own: Variables) {
    this.#folders = folders;
    this.#own = own;
  }

  /** Never available: see `windowsIsolation`. */
  async availability(): Promise<SandboxAvailability> {
    return await windowsIsolation(this.#own, { isLow: await this.#keepsToFolders() });
  }

  /** As `runInJob`. */
  async run(command: Omit<JobCommand, 'own' | 'isLow'>): Promise<ProcessOutcome> {
    return await runInJob({ ...command, own: this.#own, isLow: await this.#keepsToFolders() });
  }

  #keepsToFolders(): Promise<boolean> {
    return (this.#isLow ??= this.#tryOut().catch(() => false));
  }

  /** Whether a command of low integrity changes a file of ours in its folder, makes one there, and cannot do so elsewhere. */
  async #tryOut(): Promise<boolean> {
    const folder = await this.#folders.create();
    // Of medium integrity, as the user's own folders.
    const outside = path.join(path.dirname(this.#folders.root), `${path.basename(this.#folders.root)}-outside`);
    try {
      await mkdir(outside, { recursive: true });
      const [inside, made, forbidden] = [path.join(folder.temporary, 'ours'), path.join(folder.temporary, 'made'), path.join(outside, 'made')];
      await writeFile(inside, '');
      const { exitCode } = await runInJob({
        command: `echo a >>${shellQuote(inside)} && echo a >${shellQuote(made)} && (echo a >${shellQuote(forbidden)} || true)`,
        cwd: folder.temporary, temporary: folder.temporary, searchPath: [], variables: {}, limits: defaultLimits(PATIENCE_MS), timeoutMs: PATIENCE_MS,
        signal: new AbortController().signal, talk: undefined, own: this.#own, isLow: true,
      });
      return exitCode === 0 && (await readFile(inside, 'utf8')).trim() === 'a' && existsSync(made) && !existsSync(forbidden);
    } finally {
      await folder.remove();
      await rm(outside, { recursive: true, force: true });
    }
  }
}
