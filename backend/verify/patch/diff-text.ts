import { looksLikePath } from './named-path.ts';
import type { LooseHunk } from './place-hunks.ts';

/** One file's part of a unified diff. Null names stand for /dev/null. */
export interface FileDiff {
  readonly oldPath: string | null;
  readonly newPath: string | null;
  readonly hunks: readonly LooseHunk[];
  /** Why the part cannot be used at all. */
  readonly broken?: string;
}

export function looksLikeDiff(lines: readonly string[]): boolean {
  return lines.some((_, index) => startsFile(lines, index));
}

/** `diff --git`, or `---` followed by `+++`. A deleted line "-- x" looks like `---` alone. */
function startsFile(lines: readonly string[], index: number): boolean {
  const line = lines[index] ?? '';
  if (line.startsWith('diff --git ')) return true;
  if (!/^--- \S/.test(line) || !/^\+\+\+ \S/.test(lines[index + 1] ?? '')) return false;
  const next = lines[index + 2];
  if (next === undefined || next.trim() === '' || /^(@@|diff --git |--- )/.test(next)) return true;
  // Without a hunk's header, only names of files tell it from two changed lines.
  const names = [line, lines[index + 1] ?? ''].map((text) => text.slice(4).split('\t', 1)[0]?.trim() ?? '');
  return /^[ +-]/.test(next) && names.every((name) => name === '/dev/null' || (looksLikePath(name) && /[./]/.test(name)));
}

/** Whether lines are changed lines with their surroundings, and nothing else. */
export function looksLikeHunk(lines: readonly string[]): boolean {
  const told = lines.filter((line) => line.trim() !== '');
  return told.some((line) => /^[+-]/.test(line)) && told.every((line) => /^(?:[ +\t-]|@@|\\)/.test(line));
}

const isHunkLine = (line: string): boolean => /^[ +\-\\@]/.test(line);
const EXTENDED_HEADER = new RegExp(
  '^(index |(old|new|new file|deleted file) mode |(dis)?similarity index |rename |copy |' +
    'Binary files |GIT binary patch|--- |\\+\\+\\+ )',
);
const isExtendedHeader = (line: string): boolean => EXTENDED_HEADER.test(line);

/** Diffs in the prose of an answer, outside of fences, each as its own text. */
export function diffsOutsideFences(lines: readonly string[]): string[] {
  const found: string[] = [];
  for (let index = 0; index < lines.length; index += 1) {
    if (!startsFile(lines, index)) continue;
    const start = index;
    while (
      index < lines.length &&
      (startsFile(lines, index) ||
        isExtendedHeader(lines[index] ?? '') ||
        isHunkLine(lines[index] ?? '') ||
        emptyInside(lines, index))
    ) {
      index += 1;
    }
    found.push(lines.slice(start, index).join('\n'));
    index -= 1;
  }
  return found;
}

/** Whether the last hunk has fewer lines than its header says, of the old and of the new text. */
export function isCutShort(text: string): boolean {
  const lines = text.trimEnd().split('\n');
  const start = lines.findLastIndex((line) => line.startsWith('@@'));
  const [, old = '1', now = '1'] = /^@@+ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@/.exec(lines[start] ?? '') ?? [];
  const body = start < 0 ? [] : lines.slice(start + 1);
  const has = (sign: string): number => body.filter((line) => !line.startsWith(sign) && !line.startsWith('\\')).length;
  // Without counts, a change that ends with the answer may go on.
  if (!/^@@+ -\d/.test(lines[start] ?? '')) return /^(?:\+(?!\+\+ )|-(?!-- ))/.test(lines.at(-1) ?? '') && !text.endsWith('\n');
  const missing = Math.min(Number(old) - has('+'), Number(now) - has('-'));
  // Empty context lines at the end get lost where texts are trimmed.
  return /^[+-]/.test(lines.at(-1) ?? '') ? missing > 0 : missing > 3;
}

/** An empty line belongs to a diff if the diff continues after it: editors strip the space of an empty context line. */
function emptyInside(lines: readonly string[], index: number): boolean {
  const next = lines[index + 1];
  return lines[index] === '' && next !== undefined && (isHunkLine(next) || startsFile(lines, index + 1));
}

/**
 * Reads the files of a unified diff, and tolerates common errors of models: wrong line counts in hunk headers, missing line numbers, and
 * empty context lines without their space.
 */
export function readDiff(text: string): FileDiff[] {
  const lines = text.split('\n');
  const starts = lines.map((_, index) => index).filter((index) => startsFile(lines, index));
  // `diff --git` and the `---` below it open the same file.
  const opens = starts.filter((start, at) => {
    const previous = starts[at - 1];
    if (previous === undefined || lines[start]?.startsWith('diff --git ')) return true;
    return (
      !(lines[previous] ?? '').startsWith('diff --git ') || lines.slice(previous + 1, start).some((line) => line.startsWith('@@'))
    );
  });
  if (opens.length === 0) {
    return [
      {
        oldPath: '(diff)',
        newPath: '(diff)',
        hunks: [],
        broken: 'The diff does not say which file it changes ("--- a/…", "+++ b/…").',
      },
    ];
  }
  return opens.map((start, at) => readFileDiff(lines.slice(start, opens[at + 1] ?? lines.length)));
}

function readFileDiff(lines: readonly string[]): FileDiff {
  const firstHunk = lines.findIndex((line) => line.startsWith('@@'));
  const header = lines.slice(0, firstHunk < 0 ? lines.length : firstHunk);
  const { oldPath, newPath } = readNames(header);
  if (oldPath === null && newPath === null)
    return { oldPath: '(diff)', newPath: '(diff)', hunks: [], broken: 'The diff names no file.' };
  if (header.some((line) => /^(Binary files |GIT binary patch)/.test(line)))
    return { oldPath, newPath, hunks: [], broken: 'The diff is of a file that is not text.' };
  return { oldPath, newPath, hunks: readHunks(firstHunk < 0 ? bodyOf(lines) : lines.slice(firstHunk)) };
}

/** The lines below the names, of a diff without a hunk's header. */
function bodyOf(lines: readonly string[]): readonly string[] {
  const names = lines.findLastIndex((line, index) => index < 8 && (line.startsWith('diff --git ') || isExtendedHeader(line)) && !isBody(lines, index));
  return lines.slice(names + 1);
}

/** "--- x" is a deleted line where no "+++" follows it. */
const isBody = (lines: readonly string[], index: number): boolean =>
  (lines[index] ?? '').startsWith('--- ') ? !/^\+\+\+ /.test(lines[index + 1] ?? '') : (lines[index] ?? '').startsWith('+++ ') && !/^--- /.test(lines[index - 1] ?? '');

/** Reads hunks with or without headers, and with or without line numbers. */
export function readHunks(lines: readonly string[]): LooseHunk[] {
  const hunks: { lines: string[]; line: number | undefined; scopes: string[]; hasGaps: boolean; header: string }[] = [];
  let current: (typeof hunks)[number] | undefined;
  for (const line of lines) {
    if (line.startsWith('@@')) {
      const [, oldStart, scope = ''] = /^@@+ -(\d{1,9})(?:,\d+)? \+\d{1,9}(?:,\d+)? @@\s?(.*)$/.exec(line) ?? [undefined, undefined, line.replace(/^@@+\s*/, '').replace(/\s*@@+\s*$/, '')];
      const isScope = scope.trim() !== '' && !/^\W*$/.test(scope);
      current = { lines: [], line: oldStart === undefined ? undefined : Number(oldStart), scopes: isScope ? [scope] : [], hasGaps: false, header: line };
      hunks.push(current);
      continue;
    }
    if (!current) hunks.push((current = { lines: [], line: undefined, scopes: [], hasGaps: true, header: '' }));
    if (/^[ +-]/.test(line)) current.lines.push(line);
    else if (!line.startsWith('\\')) current.lines.push(` ${line}`);
  }
  return hunks.map((hunk) => withoutEmptyEnd({ ...hunk, isComplete: isComplete(hunk) })).filter(({ lines: body }) => body.length > 0);
}

function isComplete({ header, lines }: { readonly header: string; readonly lines: readonly string[] }): boolean {
  const counts = /^@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@/.exec(header);
  if (!counts) return false;
  const [old, now] = [Number(counts[1] ?? 1), Number(counts[2] ?? 1)];
  // Empty lines behind the last hunk may belong to it or to the answer.
  const told = lines.slice(0, lines.findLastIndex((line) => line.trim() !== '') + 1);
  const has = (of: readonly string[], sign: string): number => of.filter((line) => !line.startsWith(sign)).length;
  const isBetween = (least: number, stated: number, most: number): boolean => least <= stated && stated <= most;
  return isBetween(has(told, '+'), old, Math.max(has(lines, '+'), has(told, '+') + 3)) && isBetween(has(told, '-'), now, Math.max(has(lines, '-'), has(told, '-') + 3))
    && old - has(told, '+') === now - has(told, '-');
}

/** Empty lines after the last hunk are not part of the diff. */
function withoutEmptyEnd<Hunk extends LooseHunk>(hunk: Hunk): Hunk {
  return { ...hunk, lines: hunk.lines.slice(0, hunk.lines.findLastIndex((line) => line.trim() !== '') + 1) };
}

function readNames(header: readonly string[]): { oldPath: string | null; newPath: string | null } {
  const after = (prefix: string): string | undefined =>
    header
      .find((line) => line.startsWith(prefix))
      ?.slice(prefix.length)
      .split('\t', 1)[0]
      ?.trim();
  const git = /^diff --git (\S+) (\S+)\s*$/.exec(header[0] ?? '');
  let oldName = after('--- ') ?? git?.[1] ?? '';
  let newName = after('+++ ') ?? git?.[2] ?? '';
  if (header.some((line) => line.startsWith('new file mode '))) oldName = '/dev/null';
  if (header.some((line) => line.startsWith('deleted file mode '))) newName = '/dev/null';
  const hasPrefixes =
    (oldName === '/dev/null' || oldName.startsWith('a/')) && (newName === '/dev/null' || newName.startsWith('b/'));
  const bare = (name: string): string | null => (name === '/dev/null' || name === '' ? null : hasPrefixes ? name.slice(2) : name);
  return { oldPath: after('rename from ') ?? bare(oldName), newPath: after('rename to ') ?? bare(newName) };
}
