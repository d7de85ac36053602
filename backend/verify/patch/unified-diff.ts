import { createTwoFilesPatch } from 'diff';
import type { FileEdit } from './patch.ts';

/** The edit as a unified diff for people, in Git's form. */
export function unifiedDiff(edit: FileEdit): string {
  const before = edit.before === null ? '/dev/null' : `a/${edit.path}`;
  const after = edit.after === null ? '/dev/null' : `b/${edit.path}`;
  const text = createTwoFilesPatch(before, after, edit.before ?? '', edit.after ?? '', undefined, undefined, { context: 3 });
  // The library opens with a row of equal signs, which is no part of Git's form.
  return text.replace(/^=+\n/, '');
}
