import { diffArrays } from 'diff';

/*
 * Edits of whole lines. Applying an answer leaves the rest of a file, its cursors and its marks alone, and undoing it reverts exactly what
 * was applied. Texts are compared without a byte order mark and with `\n` line ends, as VS Code's documents provide them; VS Code restores
 * a document's own line ends.
 */

/** Replaces lines `start` to `end` (from 0, `end` excluded). */
export interface LineEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Normalizes a text for edits. */
export function normalized(text: string): string {
  return text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');
}

/** The edits that turn `from` into `to`, in order and not adjacent. Both texts are normalized. */
export function lineEdits(from: string, to: string): LineEdit[] {
  const edits: LineEdit[] = [];
  let line = 0;
  let open: { start: number; end: number; text: string } | undefined;
  for (const { added, removed, value } of diffArrays(linesOf(from), linesOf(to))) {
    if (!added && !removed) {
      if (open) edits.push(open);
      open = undefined;
      line += value.length;
      continue;
    }
    open ??= { start: line, end: line, text: '' };
    if (added) {
      open.text += value.join('');
    } else {
      line += value.length;
      open.end = line;
    }
  }
  if (open) edits.push(open);
  return edits;
}

/** Applies the edits to `text`. */
export function withLineEdits(text: string, edits: readonly LineEdit[]): string {
  const lines = linesOf(text);
  let line = 0;
  let result = '';
  for (const edit of edits) {
    result += lines.slice(line, edit.start).join('') + edit.text;
    line = edit.end;
  }
  return result + lines.slice(line).join('');
}

/**
 * Reverts the step from `before` to `after` in `current` and keeps every other change.
 * @returns undefined if a line of the step, or one next to it, has changed since
 */
export function withoutStep({ before, after, current }: { before: string; after: string; current: string }): string | undefined {
  const own = lineEdits(after, before);
  const others = lineEdits(after, current);
  const touch = own.some((mine) => others.some((other) => mine.start <= other.end && other.start <= mine.end));
  if (touch) return undefined;
  return withLineEdits(after, [...own, ...others].sort((a, b) => a.start - b.start));
}

/** Each line with its line end. An empty text has no lines. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}
