import { languageOf } from '../syntax/language.ts';
import { nodesIn } from '../syntax/nodes.ts';
import { withTree, type Node } from '../syntax/parse.ts';
import { MARKS } from './marks.ts';

/** A line of a change that somebody should look at. */
export interface MarkedLine {
  readonly path: string;
  /** Of the file with the change, counted from 1. */
  readonly line: number;
  /** After "the change": a verb with its object. */
  readonly does: string;
  /** The line without the space around it, shortened. */
  readonly text: string;
}

/** A file of the change: its text before, or null for a new one, and after, or null for one that is deleted. */
interface ChangedFile {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

const MAX_TEXT = 80;

/**
 * The lines that a change adds and that have a mark (`MARKS`), the first of each kind in each file. They prove nothing: honest code may do
 * the same. But tests alone cannot tell whether it does.
 */
export async function markedLines(files: readonly ChangedFile[]): Promise<readonly MarkedLine[]> {
  const marked: MarkedLine[] = [];
  for (const file of files) marked.push(...(await markedIn(file)));
  return marked;
}

async function markedIn({ path, before, after }: ChangedFile): Promise<readonly MarkedLine[]> {
  const language = languageOf(path);
  if (!language || after === null) return [];
  const lines = after.split(/\r?\n/);
  const added = addedLines(before?.split(/\r?\n/) ?? [], lines);
  const parts = await withTree(after, language, (root) => partsOfText(after, root));
  if (!parts) return [];
  const code = parts.code.split(/\r?\n/);
  return MARKS[language].flatMap(({ does, code: inCode, text: inText }) => {
    const found = [
      ...(inCode ? code.flatMap((line, index) => (inCode.test(line) ? [index] : [])) : []),
      ...(inText ? parts.strings.filter(({ text }) => inText.test(text)).map(({ index }) => index) : []),
    ].filter((index) => added.has(index));
    if (found.length === 0) return [];
    const index = Math.min(...found);
    return [{ path, line: index + 1, does, text: (lines[index] ?? '').trim().slice(0, MAX_TEXT) }];
  });
}

/** The indices of lines that were not there before. Lines that only moved are not new. */
function addedLines(before: readonly string[], after: readonly string[]): ReadonlySet<number> {
  const left = new Map<string, number>();
  for (const line of before) left.set(line.trim(), (left.get(line.trim()) ?? 0) + 1);
  const added = new Set<number>();
  for (const [index, line] of after.entries()) {
    const count = left.get(line.trim()) ?? 0;
    if (count > 0) left.set(line.trim(), count - 1);
    else added.add(index);
  }
  return added;
}

interface TextParts {
  /** The text with spaces in place of comments and of the contents of strings. Lines stay where they are. */
  readonly code: string;
  /** The contents of strings without expressions in them, each with the index of its line. */
  readonly strings: readonly { readonly index: number; readonly text: string }[];
}

const isString = ({ type }: Node): boolean => /^(?:string|template_string|string_literal|raw_string_literal|interpreted_string_literal|char_literal|encapsed_string|heredoc|nowdoc)$/.test(type);
const hasExpressions = (node: Node): boolean => node.namedChildren.some((child) => child !== null && /interpolation|template_substitution|variable|_expression$/.test(child.type));

function partsOfText(text: string, root: Node): TextParts {
  const strings: { index: number; text: string }[] = [];
  const blanks: (readonly [start: number, end: number])[] = [];
  for (const node of nodesIn(root, isString)) {
    if (/comment/.test(node.type)) blanks.push([node.startIndex, node.endIndex]);
    if (!isString(node) || hasExpressions(node)) continue;
    const content = node.text.replace(/^[A-Za-z]*#*["'`]+|["'`]+#*$/g, '');
    strings.push({ index: node.startPosition.row, text: content });
    blanks.push([node.startIndex, node.endIndex]);
  }
  let code = '';
  let at = 0;
  for (const [start, end] of blanks) {
    if (start < at) continue;
    code += text.slice(at, start) + text.slice(start, end).replace(/[^\r\n]/g, ' ');
    at = end;
  }
  return { code: code + text.slice(at), strings };
}
