/** A text in place of what stands between two indices; `start === end` adds. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export const insertion = (at: number, text: string): Edit => ({ start: at, end: at, text });

export const replacement = ({ startIndex, endIndex }: { startIndex: number; endIndex: number }, text: string): Edit => ({
  start: startIndex,
  end: endIndex,
  text,
});

/**
 * Applies edits of one text. Of those at one place additions come first, in the order given; the same edit given twice counts once.
 * Returns undefined where two of them concern the same part of the text.
 */
export function withEdits(text: string, edits: readonly Edit[]): string | undefined {
  const unique = new Map(edits.map((edit) => [`${edit.start}:${edit.end}:${edit.text}`, edit]));
  const ordered = [...unique.values()].sort((a, b) => a.start - b.start || Math.sign(a.end - a.start) - Math.sign(b.end - b.start));
  const parts: string[] = [];
  let at = 0;
  for (const edit of ordered) {
    if (edit.start < at) return undefined;
    parts.push(text.slice(at, edit.start), edit.text);
    at = edit.end;
  }
  return parts.join('') + text.slice(at);
}
