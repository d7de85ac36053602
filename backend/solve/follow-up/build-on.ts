import type { RunSnapshot } from '../../protocol/run-snapshot.ts';
import type { FileEdit, Patch } from '../../verify/patch/patch.ts';

/*
 * Two changes, one made on top of the other. A run that begins with an earlier change shows its workers the files with that change, and
 * offers the whole, so that it is applied in one step.
 */

/** Whether the run began with the change of an earlier answer that was not in its workspace. */
export const isBuiltOn = ({ earlier }: Pick<RunSnapshot, 'earlier'>): boolean => earlier?.change?.state === 'pending';

/**
 * The whole change: `first`, and then `second`, which was made of the files as `first` left them. Empty if `second` changes nothing, for then
 * there is nothing new to offer.
 */
export function wholeChange(first: readonly FileEdit[], second: Patch): Patch {
  if (second.edits.length === 0) return second;
  const byPath = new Map(first.map((edit) => [edit.path, edit]));
  for (const edit of second.edits) byPath.set(edit.path, edited(edit.path, (byPath.get(edit.path) ?? edit).before, edit.after));
  return { ...second, edits: [...byPath.values()].filter(changes) };
}

/** What `whole` changes of the files as `first` left them. */
export function changeOnTop(first: readonly FileEdit[], whole: readonly FileEdit[]): FileEdit[] {
  const then = new Map(whole.map((edit) => [edit.path, edit]));
  const before = new Map(first.map((edit) => [edit.path, edit]));
  const again = whole.map(({ path, before: original, after }) => edited(path, before.has(path) ? (before.get(path)?.after ?? null) : original, after));
  const undone = first.filter(({ path }) => !then.has(path)).map(({ path, before: original, after }) => edited(path, after, original));
  return [...again, ...undone].filter(changes);
}

const changes = ({ before, after }: FileEdit): boolean => before !== after;

function edited(path: string, before: string | null, after: string | null): FileEdit {
  return { path, kind: before === null ? 'create' : after === null ? 'delete' : 'modify', before, after };
}
