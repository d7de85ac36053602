import { REPLACE_MARK, SEARCH_MARK } from './change-marks.ts';

/*
 * Workers write changes without a fence around them, too: blocks <<<<<<< SEARCH … ======= … >>>>>>> REPLACE, patches between *** Begin Patch
 * and *** End Patch, and unified diffs. As Markdown, their marks would be headings and quotes, and their code prose. What a change is worth is
 * for verify/patch to say, which reads more forms; here it is enough to see where one stands.
 */

const BLOCKS: readonly (readonly [begins: RegExp, ends: RegExp])[] = [
  [SEARCH_MARK, REPLACE_MARK],
  [/^\*{3} Begin Patch\s*$/, /^\*{3} End Patch\s*$/],
];

const DIFF_HEAD = /^diff --git \S/;
const OLD_FILE = /^--- \S/;
const NEW_FILE = /^\+\+\+ \S/;
const HUNK = /^@@ /;
const IN_DIFF = /^(?:diff --git |index [\da-f]+\.\.|--- |\+\+\+ |@@ |[ +\-\\]|(?:new|deleted) file mode |(?:old|new) mode |similarity index |rename (?:from|to) )/;

/** The line after the change that begins at line `start`. An unfinished one ends with the text. Undefined if none begins there. */
function endOfChange(lines: readonly string[], start: number): number | undefined {
  const first = lines[start] ?? '';
  for (const [begins, ends] of BLOCKS) {
    if (!begins.test(first)) continue;
    let end = start + 1;
    while (end < lines.length && !ends.test(lines[end] as string)) end += 1;
    return Math.min(end + 1, lines.length);
  }
  return isDiff(lines, start) ? endOfDiff(lines, start) : undefined;
}

function isDiff(lines: readonly string[], start: number): boolean {
  const [first = '', second = '', third = ''] = lines.slice(start, start + 3);
  return DIFF_HEAD.test(first) || (OLD_FILE.test(first) && NEW_FILE.test(second) && HUNK.test(third));
}

function endOfDiff(lines: readonly string[], start: number): number {
  let end = start + 1;
  // Editors take the space from an empty line of a hunk.
  for (let index = end; index < lines.length && (lines[index] === '' || IN_DIFF.test(lines[index] as string)); index += 1) if (lines[index] !== '') end = index + 1;
  return end;
}

/** A fence of Markdown: what opens it, and what closes one that is as long. */
const FENCE = /^\s{0,3}(`{3,}|~{3,})/;

/** The text's lines in pieces: changes outside of fences, and all else. */
function* piecesOf(text: string): Generator<{ readonly isChange: boolean; readonly lines: readonly string[] }> {
  const lines = text.split('\n');
  let fence: string | undefined;
  let rest: string[] = [];
  for (let index = 0; index < lines.length;) {
    const line = lines[index] as string;
    const end = fence === undefined ? endOfChange(lines, index) : undefined;
    if (end !== undefined) {
      yield { isChange: false, lines: rest };
      yield { isChange: true, lines: lines.slice(index, end) };
      rest = [];
    } else {
      const mark = FENCE.exec(line)?.[1];
      if (fence === undefined) fence = mark;
      else if (mark?.startsWith(fence) && line.trim() === mark) fence = undefined;
      rest.push(line);
    }
    index = end ?? index + 1;
  }
  yield { isChange: false, lines: rest };
}

/** The text with such changes in fences. */
export function withFencedChanges(text: string): string {
  return [...piecesOf(text)].flatMap(({ isChange, lines }) => (isChange ? ['', ...fenced(lines), ''] : lines)).join('\n');
}

function fenced(lines: readonly string[]): readonly string[] {
  const longest = lines.reduce((most, line) => Math.max(most, /^\s*(`{3,})/.exec(line)?.[1]?.length ?? 0), 2);
  const fence = '`'.repeat(longest + 1);
  return [fence, ...lines, fence];
}

/** The text without such changes. */
export function withoutChanges(text: string): string {
  return [...piecesOf(text)].flatMap(({ isChange, lines }) => (isChange ? [] : lines)).join('\n');
}
