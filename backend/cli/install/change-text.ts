import { textDiff } from '../../verify/patch/unified-diff.ts';

/** A change of a file, for people. Null: there is no such file. */
export function changeText(file: string, before: string | null, after: string | null): string {
  const named = (text: string | null): { name: string; text: string } => ({ name: text === null ? '/dev/null' : file, text: text ?? '' });
  return textDiff(named(before), named(after), 2);
}
