import { Slots } from '../common/slots.ts';
import { neverSent } from '../context/never-sent.ts';
import { Ripgrep } from '../context/ripgrep.ts';
import type { CopyPool } from '../verify/copies/copy-pool.ts';
import { snapshotOf } from '../verify/copies/held-files.ts';
import { applyPatch } from '../verify/patch/apply-patch.ts';
import type { RunFolders } from '../verify/files/run-folder.ts';
import type { Sandbox } from '../verify/sandbox/sandbox.ts';
import type { Verifier } from '../verify/verify.ts';
import { StepCopy, type StepCopyOptions } from './step-copy.ts';

export interface StepCopiesOptions {
  readonly copies: CopyPool;
  readonly sandbox: Pick<Sandbox, 'run'>;
  readonly folders: RunFolders;
  /** Absolute path of ripgrep; undefined where there is none for this platform. */
  readonly ripgrepPath: string | undefined;
  readonly verifier: Pick<Verifier, 'tryTests' | 'surroundings'>;
}

/**
 * Private copies of a workspace for steps with hands. A step holds its copy while its worker thinks, so all steps together hold at most half
 * of the pool. The other half is for runs of the tests, which wait for nothing else while they hold one: neither a verdict nor a step's own
 * `test` waits for a step to end.
 */
export class StepCopies {
  readonly #options: StepCopiesOptions;
  readonly #slots: Slots;

  constructor(options: StepCopiesOptions) {
    this.#options = options;
    this.#slots = new Slots(Math.max(1, Math.floor(options.copies.limit / 2)));
  }

  /** A copy of a base, without the files that are never sent. Waits if too many steps hold one. Throws as `Verifier.onBase`. */
  async open(options: Omit<StepCopyOptions, 'parts' | 'snapshot' | 'copy' | 'folder' | 'release'>, signal: AbortSignal): Promise<StepCopy> {
    const { copies, folders, ripgrepPath } = this.#options;
    await this.#slots.take(signal);
    const undo: ((isReusable: boolean) => Promise<void>)[] = [async () => this.#slots.giveBack()];
    const release = async (isReusable: boolean): Promise<void> => {
      for (const step of undo.splice(0).reverse()) await step(isReusable);
    };
    try {
      const { base, installed = base, baseEdits = [], held } = options.of;
      const snapshot = await snapshotOf(copies, { folder: base, installed, held }, signal);
      const copy = await copies.lease(snapshot, signal);
      undo.push((reusable) => copy.release({ reusable }));
      await applyPatch(copy.folder, { edits: baseEdits });
      const folder = await folders.create();
      undo.push(() => folder.remove());
      const ripgrep = new Ripgrep(ripgrepPath);
      const secret = await neverSent(copy.folder, snapshot.paths, ripgrep, signal);
      const opened = new StepCopy({ ...options, parts: { ...this.#options, ripgrep }, snapshot, copy, folder, release });
      await opened.hide(secret);
      return opened;
    } catch (error) {
      await release(true);
      throw error;
    }
  }
}
