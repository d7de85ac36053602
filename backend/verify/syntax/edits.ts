/** Replaces the text between two indices. With `start === end` it inserts. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

interface Range {
  readonly startIndex: number;
  readonly endIndex: number;
}

export const insertion = (at: number, text: string): Edit => ({ start: at, end: at, text });

export const replacement = ({ startIndex, endIndex }: Range, text: string): Edit => ({ start: startIndex, end: endIndex, text });

/**
 * Applies edits to a text. At the same index insertions come first, in the order given. Equal edits are applied once.
 * Returns undefined if two edits overlap.
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

/** A part of a text with the edits in it applied, and the edits outside it. Undefined if two edits overlap. */
export function editedPart(
  text: string,
  { startIndex, endIndex }: Range,
  edits: readonly Edit[],
): { readonly part: string; readonly outside: readonly Edit[] } | undefined {
  const isInside = ({ start, end }: Edit): boolean => start >= startIndex && end <= endIndex;
  const moved = edits.filter(isInside).map((edit) => ({ ...edit, start: edit.start - startIndex, end: edit.end - startIndex }));
  const part = withEdits(text.slice(startIndex, endIndex), moved);
  return part === undefined ? undefined : { part, outside: edits.filter((edit) => !isInside(edit)) };
}
