import { createTwoFilesPatch } from 'diff';

/** A change of a file, for people. Null: there is no such file. */
export function changeText(file: string, before: string | null, after: string | null): string {
  const [old, now] = [before === null ? '/dev/null' : file, after === null ? '/dev/null' : file];
  return createTwoFilesPatch(old, now, before ?? '', after ?? '', undefined, undefined, { context: 2 }).replace(/^=+\n/, '');
}
