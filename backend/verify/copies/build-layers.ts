import type { RunFolder, RunFolders } from '../files/run-folder.ts';
import { unlessAborted } from '../../common/unless-aborted.ts';

/** What a layer is made of. */
export interface LayerSource {
  /** The same for all states of a workspace that are built in the same way. */
  readonly family: string;
  readonly state: string;
}

/** A folder with what a tool chain has built of the base. */
export interface LeasedLayer {
  /** Absolute, without symbolic links. Judged code may read it and must not be able to write it. */
  readonly folder: string;
  release(): void;
}

/**
 * Fills the empty `folder`, of which later runs see what is in it then. `earlier` is the layer of another state of the same family, if
 * there is one. False if there is nothing to keep.
 */
export type MakeLayer = (folder: string, earlier: string | undefined) => Promise<boolean>;

interface Layer {
  readonly family: string;
  readonly made: Promise<RunFolder | undefined>;
  isMade: boolean;
  users: number;
}

/** More are kept only while they are in use. */
const KEPT = 4;

/**
 * Keeps what tool chains build of a base: compiled packages and dependencies. Only the base itself writes a layer, and before any patch is
 * there. What a run builds on top of it is in the run's own folders.
 */
export class BuildLayers {
  readonly #folders: RunFolders;
  /** The one used last is the last. */
  readonly #layers = new Map<string, Layer>();

  constructor(folders: RunFolders) {
    this.#folders = folders;
  }

  /** The layer of this source, made by the first who asks. Undefined if there is none. Throws what `make` throws, or the signal's reason. */
  async lease({ family, state }: LayerSource, signal: AbortSignal, make: MakeLayer): Promise<LeasedLayer | undefined> {
    const key = JSON.stringify([family, state]);
    for (;;) {
      signal.throwIfAborted();
      const found = this.#layers.get(key);
      const layer = found ?? this.#begin(key, family, make);
      this.#layers.delete(key);
      this.#layers.set(key, layer);
      layer.users += 1;
      try {
        const folder = await unlessAborted(layer.made, signal);
        if (!folder) {
          layer.users -= 1;
          return undefined;
        }
        return { folder: folder.workspace, release: once(() => this.#giveBack(layer)) };
      } catch (error) {
        layer.users -= 1;
        // Whoever made it may have been aborted. Then a waiting caller makes it.
        if (found === undefined || signal.aborted) throw error;
      }
    }
  }

  /** Removes the layers that nobody uses. */
  async clear(): Promise<void> {
    await this.#keepOnly(0);
  }

  #begin(key: string, family: string, make: MakeLayer): Layer {
    const earlier = [...this.#layers.values()].findLast((layer) => layer.family === family && layer.isMade);
    const layer: Layer = { family, made: this.#make(make, earlier), isMade: false, users: 0 };
    layer.made.then(
      (folder) => (layer.isMade = folder !== undefined),
      () => this.#layers.get(key) === layer && this.#layers.delete(key),
    );
    return layer;
  }

  async #make(make: MakeLayer, earlier: Layer | undefined): Promise<RunFolder | undefined> {
    if (earlier) earlier.users += 1;
    const folder = await this.#folders.create();
    try {
      const below = await earlier?.made;
      if (await make(await folder.makeWorkspace(), below?.workspace)) return folder;
      await folder.remove();
      return undefined;
    } catch (error) {
      await folder.remove().catch(() => undefined);
      throw error;
    } finally {
      if (earlier) this.#giveBack(earlier);
    }
  }

  #giveBack(layer: Layer): void {
    layer.users -= 1;
    this.#keepOnly(KEPT).catch(() => undefined);
  }

  async #keepOnly(count: number): Promise<void> {
    const unused = [...this.#layers].filter(([, { users }]) => users === 0);
    const surplus = unused.slice(0, Math.max(0, this.#layers.size - count));
    for (const [key] of surplus) this.#layers.delete(key);
    await Promise.all(surplus.map(async ([, { made }]) => (await made.catch(() => undefined))?.remove()));
  }
}

function once(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    work();
  };
}
