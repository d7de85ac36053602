import { replacementEnds } from './replace-blocks.ts';

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
 * that is at least as long and not indented deeper. A block of Markdown may have fences of its own, which models write with the same signs:
 * one that names a language opens a fence inside. In a search/replace block fences are text of a file. Makes two passes over the lines.
 */
export function splitFences(markdown: string): (Fence | Prose)[] {
  const parts: (Fence | Prose)[] = [];
  let prose: string[] = [];
  let open:
    | { indent: number; mark: string; info: string; lines: string[]; lineBefore: string | undefined; inside: number; holdsFences: boolean }
    | undefined;

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

  const all = markdown.split('\n');
  const ends = replacementEnds(all);
  let held = -1;
  for (const [index, line] of all.entries()) {
    held = Math.max(held, ends.get(index) ?? -1);
    if (index <= held) {
      if (open) open.lines.push(withoutIndent(line, open.indent));
      else prose.push(line);
      continue;
    }
    if (open) {
      const [, indent = '', mark = '', info = ''] = /^([ \t]*)(`{3,}|~{3,})\s*([^`]*)$/.exec(line) ?? [];
      const isFence = mark !== '' && mark.startsWith(open.mark) && indent.length <= open.indent + 3;
      if (isFence && info !== '' && open.holdsFences) open.inside += 1;
      if (isFence && info === '' && open.inside === 0) endFence(false);
      else {
        if (isFence && info === '') open.inside -= 1;
        open.lines.push(withoutIndent(line, open.indent));
      }
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
    open = {
      indent: indent.length, mark, info: info.trim(), lines: [], lineBefore: lineBefore?.trim(), inside: 0,
      holdsFences: HOLDS_FENCES.test(info) || (lineBefore !== undefined && /\.(?:md|mdx|markdown)\W*$/.test(lineBefore)),
    };
  }
  endProse();
  endFence(true);
  return parts;
}

/** Blocks whose content is Markdown, by their info string. Without a language it may be. */
const HOLDS_FENCES = /^\s*(?:$|md\b|mdx\b|markdown\b|text\b|txt\b|plaintext\b)|\.(?:md|mdx|markdown)\b/i;

/** In a list item, the fence and its content are indented. The indentation does not belong to the file. */
function withoutIndent(line: string, indent: number): string {
  let cut = 0;
  while (cut < indent && (line[cut] === ' ' || line[cut] === '\t')) cut += 1;
  return line.slice(cut);
}
