/** A fenced code block of Markdown, with its surroundings. */
export interface Fence {
  readonly kind: 'fence';
  readonly language: string;
  /** The whole info string. */
  readonly info: string;
  readonly lines: readonly string[];
  /** The line above, with at most one empty line between. */
  readonly lineBefore: string | undefined;
  readonly unclosed: boolean;
}

export interface Prose {
  readonly kind: 'prose';
  readonly lines: readonly string[];
}

/**
 * Splits Markdown into fenced code blocks and the text between them, by CommonMark's rule: a fence ends at a fence of the same character
 * that is at least as long. Makes one pass over the lines.
 */
export function splitFences(markdown: string): (Fence | Prose)[] {
  const parts: (Fence | Prose)[] = [];
  let prose: string[] = [];
  let open: { indent: number; mark: string; info: string; lines: string[]; lineBefore: string | undefined } | undefined;

  const endProse = (): void => {
    if (prose.length > 0) parts.push({ kind: 'prose', lines: prose });
    prose = [];
  };
  const endFence = (unclosed: boolean): void => {
    if (!open) return;
    const { info, lines, lineBefore } = open;
    parts.push({ kind: 'fence', language: info.split(/\s/, 1)[0] ?? '', info, lines, lineBefore, unclosed });
    open = undefined;
  };

  for (const line of markdown.split('\n')) {
    if (open) {
      const closing = /^\s*(`{3,}|~{3,})\s*$/.exec(line)?.[1];
      if (closing?.startsWith(open.mark)) endFence(false);
      else open.lines.push(withoutIndent(line, open.indent));
      continue;
    }
    const opening = /^([ \t]*)(`{3,}|~{3,})(.*)$/.exec(line);
    const [, indent = '', mark = '', info = ''] = opening ?? [];
    // Backticks in the info string make it inline code on one line.
    if (!opening || (mark.startsWith('`') && info.includes('`'))) {
      prose.push(line);
      continue;
    }
    const lineBefore = prose.at(-1)?.trim() ? prose.at(-1) : prose.at(-2)?.trim() ? prose.at(-2) : undefined;
    endProse();
    open = { indent: indent.length, mark, info: info.trim(), lines: [], lineBefore: lineBefore?.trim() };
  }
  endProse();
  endFence(true);
  return parts;
}

/** In a list item, the fence and its content are indented. The indentation does not belong to the file. */
function withoutIndent(line: string, indent: number): string {
  let cut = 0;
  while (cut < indent && (line[cut] === ' ' || line[cut] === '\t')) cut += 1;
  return line.slice(cut);
}
