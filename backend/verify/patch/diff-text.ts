import { applyPatch, parsePatch } from 'diff';

/** One file's part of a unified diff. Null names stand for /dev/null. */
export interface FileDiff {
  readonly oldPath: string | null;
  readonly newPath: string | null;
  readonly hunks: readonly Hunk[];
  /** Why the part cannot be used at all. */
  readonly broken?: string;
}

interface Hunk {
  /** The stated line numbers, or 1 if a model left them out. The search starts there. */
  readonly oldStart: number;
  readonly newStart: number;
  /** Context, deleted and added lines with their first character. */
  readonly lines: readonly string[];
}

/**
 * Limit of hunks times lines of the file. Each hunk may be searched in the whole file, synchronously. This many take about half a second.
 */
const MAX_LINES_LOOKED_AT = 10_000_000;

/** How many context lines of a hunk may differ from the file, as in patch(1). Deleted lines must always be there. */
const FUZZ_LINES = 2;

export function looksLikeDiff(lines: readonly string[]): boolean {
  return lines.some((_, index) => startsFile(lines, index));
}

/** `diff --git`, or `---` followed by `+++`. A deleted line "-- x" looks like `---` alone. */
function startsFile(lines: readonly string[], index: number): boolean {
  const line = lines[index] ?? '';
  if (line.startsWith('diff --git ')) return true;
  if (!/^--- \S/.test(line) || !/^\+\+\+ \S/.test(lines[index + 1] ?? '')) return false;
  const next = lines[index + 2];
  return next === undefined || next.trim() === '' || /^(@@|diff --git |--- )/.test(next);
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
  const hunks: Hunk[] = [];
  let current: string[] = [];
  for (const line of firstHunk < 0 ? [] : lines.slice(firstHunk)) {
    if (line.startsWith('@@')) {
      current = [];
      const [, oldStart = '1', newStart = '1'] = /^@@+ -(\d{1,9})(?:,\d+)? \+(\d{1,9})(?:,\d+)? @@/.exec(line) ?? [];
      hunks.push({ oldStart: Number(oldStart), newStart: Number(newStart), lines: current });
    } else if (/^[ +-]/.test(line)) {
      current.push(line);
    } else if (!line.startsWith('\\')) {
      current.push(` ${line}`);
    }
  }
  return { oldPath, newPath, hunks: hunks.map(withoutEmptyEnd).filter(({ lines: body }) => body.length > 0) };
}

/** Empty lines after the last hunk are not part of the diff. */
function withoutEmptyEnd(hunk: Hunk): Hunk {
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

/**
 * The text after the diff, or null if it does not fit. Lines end with LF; a missing last line end stays missing.
 * @throws RangeError if the search would take too long.
 */
export function applyFileDiff(text: string, diff: FileDiff): string | null {
  if (diff.hunks.length === 0) return text;
  const added = diff.hunks.flatMap(({ lines }) => lines);
  if (text === '')
    return added.every((line) => line.startsWith('+')) ? `${added.map((line) => line.slice(1)).join('\n')}\n` : null;
  const lacksLineEnd = !text.endsWith('\n');
  const lineCount = text.split('\n').length;
  if (diff.hunks.length * lineCount > MAX_LINES_LOOKED_AT) throw new RangeError('it has too many parts for so long a file');
  const hunks = diff.hunks.map((hunk) => hunkText(hunk, lineCount));
  const [parsed] = parsePatch(['--- file', '+++ file', ...hunks.flat()].join('\n'));
  if (parsed === undefined) return null;
  const result = applyPatch(lacksLineEnd ? `${text}\n` : text, parsed, { fuzzFactor: FUZZ_LINES });
  if (result === false) return null;
  return lacksLineEnd ? result.replace(/\n$/, '') : result;
}

/** The search starts at the stated line and moves outwards by one line at a time, so it must start inside the file. */
function hunkText({ oldStart, newStart, lines }: Hunk, lineCount: number): string[] {
  const oldLines = lines.filter((line) => !line.startsWith('+')).length;
  const newLines = lines.filter((line) => !line.startsWith('-')).length;
  return [`@@ -${Math.min(oldStart, lineCount)},${oldLines} +${Math.min(newStart, lineCount)},${newLines} @@`, ...lines];
}
