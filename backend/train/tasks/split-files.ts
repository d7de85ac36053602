import { shuffled } from '../statistics/draws.ts';

export type Split = 'train' | 'held-out';

export interface SplitOptions {
  readonly seed: number;
  /** Share of the files whose tasks are never trained on. */
  readonly heldOut: number;
}

/**
 * Which side the tasks of files belong on: those of a file are all for training or all held out. `changes` are the files that each candidate changes.
 * Files that are changed together stay together, but only while such a piece is no larger than what is held out: over the years commits
 * tie every file to every other. A candidate whose files still are on both sides has none (undefined).
 */
export function splitFiles(changes: readonly (readonly string[])[], { seed, heldOut }: SplitOptions): (paths: readonly string[]) => Split | undefined {
  const files = [...new Set(changes.flat())].sort();
  const wanted = files.length < 2 ? 0 : Math.max(1, Math.round(files.length * heldOut));
  const pieces = new Map<string, readonly string[]>(files.map((file) => [file, [file]]));
  for (const paths of changes) {
    const piece = [...new Set(paths.flatMap((file) => pieces.get(file) ?? []))];
    if (piece.length <= wanted) for (const file of piece) pieces.set(file, piece);
  }
  const held = new Set<string>();
  for (const piece of shuffled([...new Set(pieces.values())], seed, 'files')) {
    if (held.size + piece.length <= wanted) for (const file of piece) held.add(file);
  }
  return (paths) => {
    const heldHere = paths.filter((file) => held.has(file)).length;
    if (heldHere === 0) return 'train';
    return heldHere === paths.length ? 'held-out' : undefined;
  };
}
