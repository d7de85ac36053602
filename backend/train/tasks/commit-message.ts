import type { FileEdit } from '../../verify/patch/patch.ts';

/** Characters of a message that are read. */
const MAX_READ = 8_000;
const MAX_CHARACTERS = 1_000;

/** Shorter lines of code (`}`, `else:`) reveal nothing. */
const TELLING_CHARACTERS = 8;

const LINE_END = /\r\n|[\r\v\f\u{85}\u{2028}\u{2029}]/gu;
const UNSEEN = /[^\P{Cc}\n\t]|\p{Cf}/gu;
const FENCE = /^ {0,3}(```|~~~)/;
const DIFF = /^(diff --git |Index: |@@ |--- a\/)[^]*/m;
/** Signed-off-by, Co-authored-by, Change-Id, anywhere. In the last paragraph every `Word: …` is a trailer. */
const TRAILER = /^[A-Za-z]+(-[A-Za-z]+)+: |^\(cherry picked from /;
const TRAILER_AT_END = /^[A-Za-z][A-Za-z-]*(: | #)|^\(cherry picked from |^\s+\S/;

const LINK = /<?\bhttps?:\/\/[^\s>)\]]+>?/gi;
const ISSUE = String.raw`(?<![\w./-])(?:[\w.-]{1,100}/[\w.-]{1,100})?(?:#|GH-)\d+\b`;
const ISSUES = new RegExp(
  String.raw`(?:\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?|refs?|see|issues?|pr)\b:? )?${ISSUE}(?:(?:, | and |, and | & )${ISSUE})*`, 'gi',
);
const TICKET = /^(?:\[[A-Z][A-Z0-9]*-\d+\]|[A-Z][A-Z0-9]*-\d+:) */;

/**
 * The description of a commit's change, for a question about it. Trailers, links and issue numbers are removed, and so is what would reveal
 * the change: code, diffs, and each line that quotes a changed line. Empty where nothing is left. `edits` undo the commit.
 */
export function descriptionOf(message: string, edits: readonly FileEdit[]): string {
  const text = message.slice(0, MAX_READ).replace(LINE_END, '\n').replace(UNSEEN, '').replace(DIFF, '');
  const restored = restoredLines(edits);
  const lines = withoutTrailers(withoutFenced(text.trim().split('\n')))
    .filter((line) => !/^( {4}|\t|\+)/.test(line) && !quotes(line, restored))
    .map((line, index) => withoutReferences(index === 0 ? line.replace(/^((fixup|squash|amend)! )+/, '').replace(TICKET, '') : line));
  const description = lines.join('\n').replace(/\n{3,}/g, '\n\n').trim();
  return description.length > MAX_CHARACTERS ? `${description.slice(0, MAX_CHARACTERS).replace(/\s+\S*$/, '')} …` : description;
}

/** An unclosed block reaches to the end. */
function withoutFenced(lines: readonly string[]): readonly string[] {
  let open: string | undefined;
  return lines.filter((line) => {
    const fence = FENCE.exec(line)?.[1];
    const isOutside = open === undefined && fence === undefined;
    if (open === undefined) open = fence;
    else if (fence === open) open = undefined;
    return isOutside;
  });
}

function withoutTrailers(lines: readonly string[]): readonly string[] {
  const last = lines.findLastIndex((line) => line.trim() === '');
  const areTrailers = last > 0 && lines.slice(last + 1).every((line) => TRAILER_AT_END.test(line));
  return (areTrailers ? lines.slice(0, last) : lines).filter((line, index) => index === 0 || !TRAILER.test(line));
}

function withoutReferences(line: string): string {
  const left = line.replace(LINK, '').replace(ISSUES, '');
  if (left === line) return line.trimEnd();
  const tidy = left.replace(/\( *\)|\[ *\]/g, '').replace(/ +(?=[ .,;:]|$)/g, '').replace(/^[ :;,]+/, '');
  // "Closes #12." leaves only the full stop.
  return /\p{L}{2}/u.test(tidy) ? tidy : '';
}

/** The lines of the wanted code: those that the task's base lacks. */
function restoredLines(edits: readonly FileEdit[]): readonly string[] {
  return edits.flatMap(({ before, after }) => {
    const kept = new Set(plainLines(after));
    return plainLines(before).filter((line) => line.length >= TELLING_CHARACTERS && !kept.has(line));
  });
}

const plain = (line: string): string => line.replaceAll('`', '').replace(/\s+/g, ' ').trim();
const plainLines = (text: string | null): string[] => (text ?? '').split('\n').map(plain);

function quotes(line: string, restored: readonly string[]): boolean {
  const words = plain(line);
  return restored.some((code) => words.includes(code));
}
