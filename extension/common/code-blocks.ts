export interface CodeBlock {
  /** The first word after the opening fence, such as `ts`; may be empty. */
  readonly language: string;
  readonly code: string;
}

/**
 * The fenced code blocks of a Markdown text, in order (CommonMark §4.5, top level only). An unclosed fence extends to the end of the text.
 */
export function codeBlocksOf(markdown: string): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let open: { fence: string; language: string; lines: string[] } | undefined;
  for (const line of markdown.split(/\r\n?|\n/)) {
    if (open) {
      if (isClosing(line, open.fence)) {
        blocks.push(blockOf(open));
        open = undefined;
      } else {
        open.lines.push(line);
      }
      continue;
    }
    const opening = /^ {0,3}(`{3,}|~{3,})[ \t]*([^\s`]*)[^`]*$/.exec(line);
    if (opening) open = { fence: opening[1] ?? '```', language: opening[2] ?? '', lines: [] };
  }
  if (open) blocks.push(blockOf(open));
  return blocks;
}

function isClosing(line: string, fence: string): boolean {
  const trimmed = line.trimEnd();
  const marks = trimmed.trimStart();
  return trimmed.length - marks.length <= 3 && marks.length >= fence.length && marks === fence.charAt(0).repeat(marks.length);
}

function blockOf({ language, lines }: { language: string; lines: string[] }): CodeBlock {
  return { language, code: lines.map((line) => `${line}\n`).join('') };
}
