import { SerialQueue } from '../../common/serial-queue.ts';
import type { Ripgrep } from '../ripgrep.ts';
import { Workspace } from '../workspace.ts';
import { SymbolIndex } from './symbol-index.ts';

/** Indexes of more workspaces are not kept: the one that was used longest ago goes. */
const MAX_KEPT = 3;

interface Kept {
  readonly index: SymbolIndex;
  readonly queue: SerialQueue;
}

/**
 * Keeps the indexes of the last workspaces warm. One per process.
 *
 *     const index = await indexes.refreshed(workspace, signal);   // as the files are now
 *     const index = indexes.warm(root);                           // at once, as the files were at the last refresh; or undefined
 */
export class SymbolIndexes {
  readonly #kept = new Map<string, Kept>();
  readonly #filled = new WeakSet<SymbolIndex>();

  /** The index of a workspace that was just listed. @throws the signal's reason when it aborts */
  async refreshed(workspace: Workspace, signal: AbortSignal): Promise<SymbolIndex> {
    const kept = this.#of(workspace.root);
    await kept.queue.run(async () => {
      await kept.index.refresh(workspace, signal);
      this.#filled.add(kept.index);
    }, signal);
    return kept.index;
  }

  /** @returns undefined if there is no such folder. @throws the signal's reason when it aborts */
  async open(folder: string, ripgrep: Ripgrep, signal: AbortSignal): Promise<SymbolIndex | undefined> {
    const workspace = await Workspace.open(folder, ripgrep, signal);
    return workspace && this.refreshed(workspace, signal);
  }

  /** @param root absolute, links resolved: `Workspace.root` */
  warm(root: string): SymbolIndex | undefined {
    const index = this.#kept.get(root)?.index;
    return index && this.#filled.has(index) ? index : undefined;
  }

  #of(root: string): Kept {
    const kept = this.#kept.get(root) ?? { index: new SymbolIndex(), queue: new SerialQueue() };
    // The last one used is the last one of the map.
    this.#kept.delete(root);
    this.#kept.set(root, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest);
    return kept;
  }
}
