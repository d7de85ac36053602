import { createTwoFilesPatch } from 'diff';
import type { FileEdit } from './patch.ts';

/** The edit as a unified diff for people, in Git's form. */
export function unifiedDiff(edit: FileEdit): string {
  const before = edit.before === null ? '/dev/null' : `a/${edit.path}`;
  const after = edit.after === null ? '/dev/null' : `b/${edit.path}`;
  return textDiff({ name: before, text: edit.before ?? '' }, { name: after, text: edit.after ?? '' }, 3);
}

interface NamedText {
  readonly name: string;
  readonly text: string;
}

/** Two texts as a unified diff. @param context lines around each change */
export function textDiff(before: NamedText, after: NamedText, context: number): string {
  const text = createTwoFilesPatch(before.name, after.name, before.text, after.text, undefined, undefined, { context });
  // The library opens with a row of equal signs, which is no part of Git's form.
  return text.replace(/^=+\n/, '');
}
