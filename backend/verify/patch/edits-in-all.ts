import type { FileEdit } from './patch.ts';

/** What two changes make of the workspace, one after the other. */
export function editsInAll(first: readonly FileEdit[], then: readonly FileEdit[]): readonly FileEdit[] {
  const all = new Map(first.map((edit) => [edit.path, edit]));
  for (const edit of then) {
    const { before } = all.get(edit.path) ?? edit;
    const kind = before === null ? 'create' : edit.after === null ? 'delete' : 'modify';
    all.set(edit.path, { path: edit.path, kind, before, after: edit.after });
  }
  return [...all.values()].filter(({ before, after }) => before !== after);
}
