import { readFiles, type HeldFiles } from '../verify/copies/held-files.ts';
import type { Checker } from './checker.ts';

/**
 * The files that a run reads and judges: those of its workspace as they were when it began, whatever a person changes meanwhile. Without
 * tests there is nothing to judge, and files are read as they are.
 */
export class RunFiles {
  readonly #checker: Pick<Checker, 'hold'>;
  readonly #signal: AbortSignal;
  #held: HeldFiles | undefined;

  constructor({ checker, signal }: { readonly checker: Pick<Checker, 'hold'>; readonly signal: AbortSignal }) {
    this.#checker = checker;
    this.#signal = signal;
  }

  async hold(workspace: string): Promise<void> {
    // A workspace that cannot be copied is told with the verdict.
    this.#held ??= await this.#checker.hold?.(workspace, this.#signal).catch((): undefined => this.#signal.throwIfAborted() as undefined);
  }

  /** For `Checker.verify` and the like. */
  get held(): { readonly held?: HeldFiles } {
    return this.#held ? { held: this.#held } : {};
  }

  /** Calls `use` with a folder that has these files. */
  async read<Result>(workspace: string, use: (folder: string) => Promise<Result>): Promise<Result> {
    return await readFiles({ folder: workspace, held: this.#held, signal: this.#signal }, use);
  }

  letGo(): void {
    this.#held?.letGo();
    this.#held = undefined;
  }
}
