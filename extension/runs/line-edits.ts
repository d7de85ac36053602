import { diffArrays } from 'diff';

/*
 * Edits of whole lines, so that applying an answer leaves the rest of a file, its cursors and its marks alone, and so that
 * undoing it takes back exactly what was applied. Texts are compared without byte order mark and with `\n` line ends, as VS
 * Code's documents have neither: a document's own line ends are put back by VS Code.
 */

/** Lines `start` to `end` (from 0, end excluded) of one text, and what stands there in the other. */
export interface LineEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The text as edits see it. */
export function normalized(text: string): string {
  return text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');
}

/** The edits that turn `from` into `to`, in order, not touching each other. Both texts are normalized. */
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

/** `text` with the edits made. */
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
 * `current` with the step from `before` to `after` taken back and every other change kept.
 * @returns undefined where somebody has since changed a line that belongs to the step or stands right beside it.
 */
export function withoutStep({ before, after, current }: { before: string; after: string; current: string }): string | undefined {
  const own = lineEdits(after, before);
  const others = lineEdits(after, current);
  const touch = own.some((mine) => others.some((other) => mine.start <= other.end && other.start <= mine.end));
  if (touch) return undefined;
  return withLineEdits(after, [...own, ...others].sort((a, b) => a.start - b.start));
}

/** Every line with its line end; an empty text has no line. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}
