import { NumberHeap } from './number-heap.ts';

/** More than any id (`HIGHEST_ID`), so that a pair of ids is one exact number, and so is a rank with an id. */
const IDS = 2 ** 20;
/** More than the longest text has characters. Together with a rank, of which there are at most 2²³, it is one exact number. */
const PLACES = 2 ** 30;

/** Three numbers: the ids of two tokens, and of the token that they become. The first pair is merged first. */
export type Merge = readonly [left: number, right: number, merged: number];

/**
 * Merges pairs of tokens: always the pair with the lowest rank, and among equal ones the leftmost. A text is not split into words here and may
 * be long, so a heap finds the next pair. Ids instead of strings make 515,000 merges (Gemma's) cheap to keep and to find.
 */
export class PairMerger {
  /** By a pair of ids: its rank, and the id it becomes. */
  readonly #merges: ReadonlyMap<number, number>;

  constructor(merges: Iterable<Merge>) {
    const found = new Map<number, number>();
    let rank = 0;
    for (const [left, right, merged] of merges) found.set(left * IDS + right, rank++ * IDS + merged);
    this.#merges = found;
  }

  merge(tokens: readonly number[]): number[] {
    const ids = [...tokens];
    const next = ids.map((_, at) => at + 1);
    const previous = ids.map((_, at) => at - 1);
    const waiting = new NumberHeap();
    const found = (at: number): number | undefined => this.#merges.get(ids[at]! * IDS + (ids[next[at]!] ?? NaN));
    const wait = (at: number): void => {
      const merge = found(at);
      if (merge !== undefined) waiting.push(Math.floor(merge / IDS) * PLACES + at);
    };
    ids.forEach((_, at) => wait(at));
    for (let first = waiting.pop(); first !== undefined; first = waiting.pop()) {
      const at = first % PLACES;
      const merge = found(at);
      // Another merge has taken one of the two.
      if (merge === undefined || Math.floor(merge / IDS) !== Math.floor(first / PLACES)) continue;
      const gone = next[at]!;
      ids[at] = merge % IDS;
      ids[gone] = GONE;
      next[at] = next[gone]!;
      if (next[at]! < ids.length) previous[next[at]!] = at;
      wait(at);
      if (previous[at]! >= 0) wait(previous[at]!);
    }
    return ids.filter((id) => id !== GONE);
  }
}

/** Marks a token that was merged into the one before it. It is not an id, so no pair with it is found. */
const GONE = -1;
