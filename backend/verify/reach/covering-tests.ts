import type { Coverage } from '../runners/coverage.ts';

/** A file in the code whose coverage is known, and once it is edited; null where it does not exist. */
export interface ChangedFile {
  /** Relative to the workspace. */
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

/**
 * Ids of the tests that call the functions in whose bodies the edits are. Undefined where
 * coverage does not tell: what is changed is outside of functions, or in one that runs when no test does.
 */
export function coveringTests(edits: readonly ChangedFile[], { functions, beyond }: Coverage): ReadonlySet<string> | undefined {
  const found = new Set(beyond);
  for (const { path, before, after } of edits) {
    if (before === null || after === null || !path.endsWith('.py')) return undefined;
    const inFile = functions.get(path);
    // Nothing has loaded this file.
    if (!inFile) continue;
    const { first, last } = changedLines(before, after);
    const around = inFile.filter((one) => one.body <= first && last <= one.last);
    const inner = around.reduce<(typeof around)[number] | undefined>((best, one) => (best === undefined || one.body > best.body ? one : best), undefined);
    if (!inner || inner.isCalledOutside) return undefined;
    for (const id of inner.tests) found.add(id);
  }
  return found;
}

/** The lines of `before` from the first to the last that is changed, from 1. */
function changedLines(before: string, after: string): { readonly first: number; readonly last: number } {
  const [old, now] = [before.split('\n'), after.split('\n')];
  let same = 0;
  while (same < old.length && same < now.length && old[same] === now[same]) same += 1;
  let alike = 0;
  while (alike < old.length - same && alike < now.length - same && old.at(-1 - alike) === now.at(-1 - alike)) alike += 1;
  // Between two lines, where something is only added.
  return { first: same + 1, last: Math.max(same + 1, old.length - alike) };
}
