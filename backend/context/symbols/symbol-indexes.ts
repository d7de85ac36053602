import { SerialQueue } from '../../common/serial-queue.ts';
import type { Ripgrep } from '../ripgrep.ts';
import { Workspace } from '../workspace.ts';
import type { IndexFolder } from './index-folder.ts';
import { SymbolIndex } from './symbol-index.ts';

/** Indexes of more workspaces are not kept: the one that was used longest ago goes. */
const MAX_KEPT = 3;

/** An index is written again when so many files have changed: reading fewer takes no longer than reading the index. */
const WORTH_SAVING = 200;

interface Kept {
  readonly queue: SerialQueue;
  readonly index: Promise<SymbolIndex>;
  /** Its number of changes when it was last written. */
  savedAt: number;
}

/**
 * Keeps the indexes of the last workspaces warm. One per process.
 *
 *     const index = await indexes.refreshed(workspace, signal);   // as the files are now
 *     const index = indexes.warm(root);                           // at once, as the files were at the last refresh; or undefined
 */
export class SymbolIndexes {
  readonly #kept = new Map<string, Kept>();
  /** Those that were refreshed at least once. */
  readonly #filled = new WeakMap<Kept, SymbolIndex>();
  readonly #folder: IndexFolder | undefined;
  #saving: Promise<void> = Promise.resolve();

  /** @param folder where indexes outlive this process; without it they do not */
  constructor(folder?: IndexFolder) {
    this.#folder = folder;
  }

  /** The index of a workspace that was just listed. @throws the signal's reason when it aborts */
  async refreshed(workspace: Workspace, signal: AbortSignal): Promise<SymbolIndex> {
    const kept = this.#of(workspace.root);
    return kept.queue.run(async () => {
      const index = await kept.index;
      await index.refresh(workspace, signal);
      this.#filled.set(kept, index);
      if (index.changes - kept.savedAt >= WORTH_SAVING) this.#save(workspace.root, kept, index);
      return index;
    }, signal);
  }

  /** Resolves when what there is to write has been written, or could not be. */
  get saved(): Promise<void> {
    return this.#saving;
  }

  /** @returns undefined if there is no such folder. @throws the signal's reason when it aborts */
  async open(folder: string, ripgrep: Ripgrep, signal: AbortSignal): Promise<SymbolIndex | undefined> {
    const workspace = await Workspace.open(folder, ripgrep, signal);
    return workspace && this.refreshed(workspace, signal);
  }

  /** @param root absolute, links resolved: `Workspace.root` */
  warm(root: string): SymbolIndex | undefined {
    const kept = this.#kept.get(root);
    return kept && this.#filled.get(kept);
  }

  async #begin(root: string): Promise<SymbolIndex> {
    return new SymbolIndex(await this.#folder?.load(root));
  }

  /** One after the other, beside the request that has changed the index. */
  #save(root: string, kept: Kept, index: SymbolIndex): void {
    const folder = this.#folder;
    if (!folder) return;
    kept.savedAt = index.changes;
    this.#saving = this.#saving.then(() => folder.save(root, index.content));
  }

  #of(root: string): Kept {
    const kept = this.#kept.get(root) ?? { queue: new SerialQueue(), index: this.#begin(root), savedAt: 0 };
    // The last one used is the last one of the map.
    this.#kept.delete(root);
    this.#kept.set(root, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest);
    return kept;
  }
}
