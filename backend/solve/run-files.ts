import type { Base } from '../verify/base-tests.ts';
import { readFiles, type HeldFiles } from '../verify/copies/held-files.ts';
import { applyPatch } from '../verify/patch/apply-patch.ts';
import type { FileEdit } from '../verify/patch/patch.ts';
import type { EarlierChange } from '../protocol/earlier.ts';
import type { Checker } from './checker.ts';
import { RunError } from './failure.ts';
import { placeChange } from './follow-up/earlier-change.ts';

export interface RunFilesOptions {
  readonly checker: Pick<Checker, 'hold' | 'onBase'>;
  /** How the base of a training's task differs from its folder. */
  readonly taskBase?: Pick<Base, 'installed' | 'baseEdits'> | undefined;
  readonly signal: AbortSignal;
  /** The change of an earlier answer that the run begins with, if it is not in the workspace. */
  readonly begins?: EarlierChange | undefined;
}

/**
 * The files that a run reads and judges: those of its workspace as they were when it began, whatever a person changes meanwhile. Without
 * tests there is nothing to judge, and files are read as they are. A run that continues from an answer reads them with the answer's change.
 */
export class RunFiles {
  readonly #options: RunFilesOptions;
  #held: HeldFiles | undefined;
  #begins: Promise<readonly FileEdit[]> | undefined;
  #whyNotHeld = 'No copy of it can be made here.';

  constructor(options: RunFilesOptions) {
    this.#options = options;
  }

  async hold(workspace: string): Promise<void> {
    const { checker, signal } = this.#options;
    // A workspace that cannot be copied is told with the verdict.
    this.#held ??= await checker.hold?.(workspace, signal).catch((error: unknown): undefined => {
      signal.throwIfAborted();
      this.#whyNotHeld = error instanceof Error ? error.message : String(error);
    });
  }

  /** What the run reads and judges, for `Checker.verify` and the like: without the earlier change. */
  base(workspace: string): Base {
    return { base: workspace, ...this.#options.taskBase, ...(this.#held && { held: this.#held }) };
  }

  /** Calls `use` with a folder that has these files. */
  async read<Result>(workspace: string, use: (folder: string) => Promise<Result>): Promise<Result> {
    const edits = await this.begins(workspace);
    if (edits.length === 0) return await this.readWorkspace(workspace, use);
    if (!this.#held) throw new RunError('workspace', `The change of the earlier answer cannot be built on: ${this.#whyNotHeld} Apply it first, and ask again.`);
    return await this.#held.copied(async (folder) => {
      await applyPatch(folder, { edits }, { tests: 'new' });
      return await use(folder);
    }, this.#options.signal);
  }

  /** Calls `use` with a folder that has the files of the workspace, without the earlier change. */
  async readWorkspace<Result>(workspace: string, use: (folder: string) => Promise<Result>): Promise<Result> {
    const { taskBase, checker, signal } = this.#options;
    if (taskBase && checker.onBase) return await checker.onBase(this.base(workspace), signal, use);
    return await readFiles({ folder: workspace, held: this.#held, signal }, use);
  }

  /**
   * The earlier change that the run begins with, as edits of the workspace; empty if there is none, or if a person has applied it since.
   * @throws RunError if it does not fit any more
   */
  async begins(workspace: string): Promise<readonly FileEdit[]> {
    return await (this.#begins ??= this.#place(workspace));
  }

  async #place(workspace: string): Promise<readonly FileEdit[]> {
    const { begins } = this.#options;
    if (begins?.state !== 'pending') return [];
    await this.hold(workspace);
    const { edits, lost: [lost] } = await this.readWorkspace(workspace, (folder) => placeChange(begins.edits, folder));
    if (lost) throw new RunError('workspace', `The project was changed, and the change of the earlier answer does not fit ${lost.path} any more: ask again.`);
    return edits;
  }

  letGo(): void {
    this.#held?.letGo();
    this.#held = undefined;
  }
}
