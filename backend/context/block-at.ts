import type { LineRange } from './line-range.ts';

const MAX_BLOCK_LINES = 80;
const MAX_LEADING_LINES = 12;

/** The definition that starts at a line, including the comment above it. It ends where the indentation ends. */
export function blockAt(lines: readonly string[], line: number): LineRange {
  const first = lines[line - 1] ?? '';
  const indent = indentOf(first);
  let start = line;
  while (start > 1 && line - start < MAX_LEADING_LINES && isLeading(lines[start - 2] ?? '', indent)) start -= 1;
  let end = line;
  for (let next = line + 1; next <= Math.min(lines.length, line + MAX_BLOCK_LINES); next += 1) {
    const text = lines[next - 1] ?? '';
    if (text.trim() === '') continue;
    if (indentOf(text) > indent) end = next;
    else if (indentOf(text) === indent && /^\s*(?:[)\]}>]|end\b|\{)/.test(text)) {
      end = next;
      if (!/[{([:]\s*$/.test(text)) break;
    } else break;
  }
  return { start, end };
}

/** A comment, decorator or attribute that belongs to the next line. */
function isLeading(line: string, indent: number): boolean {
  return indentOf(line) >= indent && /^\s*(?:\/\/|\/\*|\*|#|--|@|\[\w|"""|''')/.test(line);
}

/** The width of the indentation in columns; a tab counts as four. */
export function indentOf(line: string): number {
  let width = 0;
  for (const character of line) {
    if (character === ' ') width += 1;
    else if (character === '\t') width += 4;
    else break;
  }
  return width;
}
