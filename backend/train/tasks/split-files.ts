import { shuffled } from '../statistics/draws.ts';

export type Split = 'train' | 'held-out';

export interface SplitOptions {
  readonly seed: number;
  /** Share of the files whose tasks are never trained on. */
  readonly heldOut: number;
}

/**
 * Splits files into those for training and those held out, and returns the side of a candidate's files: undefined where they are on both.
 * `changes`: the files that each candidate changes. Files that change together stay together while their group is no larger than the held-out
 * share; without this limit a long history ties all files together.
 */
export function splitFiles(changes: readonly (readonly string[])[], { seed, heldOut }: SplitOptions): (paths: readonly string[]) => Split | undefined {
  const files = [...new Set(changes.flat())].sort();
  const wanted = files.length < 2 ? 0 : Math.max(1, Math.round(files.length * heldOut));
  const groups = new Map<string, readonly string[]>(files.map((file) => [file, [file]]));
  for (const paths of changes) {
    const group = [...new Set(paths.flatMap((file) => groups.get(file) ?? []))];
    if (group.length <= wanted) for (const file of group) groups.set(file, group);
  }
  const held = new Set<string>();
  for (const group of shuffled([...new Set(groups.values())], seed, 'files')) {
    if (held.size + group.length <= wanted) for (const file of group) held.add(file);
  }
  return (paths) => {
    const heldHere = paths.filter((file) => held.has(file)).length;
    if (heldHere === 0) return 'train';
    return heldHere === paths.length ? 'held-out' : undefined;
  };
}
