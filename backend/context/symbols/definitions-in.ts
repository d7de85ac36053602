import { indentOf } from '../block-at.ts';
import type { Definition } from './definition.ts';
import { definingLine, familyOf, type Family } from './definition-rules.ts';
import { detached } from '../../common/detached.ts';

const MAX_DEFINITIONS = 2_000;
/** A longer body is cut there: its end is not looked for. */
const MAX_BODY_LINES = 3_000;
const MAX_LEADING_LINES = 40;
/** How far the parameters of a definition may go over lines. */
const MAX_HEAD_LINES = 24;
const MAX_SIGNATURE = 240;
const BLANK = -1;
/** In others a `#` begins a private name, an attribute or a macro. */
const HASH_COMMENTS: ReadonlySet<Family['name']> = new Set(['python', 'ruby', 'php', 'elixir', 'shell']);

/** The definitions of a file in the order of their lines. Empty for languages without rules. */
export function definitionsIn(path: string, lines: readonly string[]): Definition[] {
  const family = familyOf(path);
  if (!family) return [];
  const indents = Int32Array.from(lines, (line) => (line.trim() === '' ? BLANK : indentOf(line)));
  const definitions: Definition[] = [];
  for (const [index, text] of lines.entries()) {
    if (indents[index] === BLANK || isComment(text, family)) continue;
    const found = definingLine(text, family);
    if (!found) continue;
    const head = headEnd(lines, index);
    if (found.needsBody && !/[{:=]\s*$|\{.*\}\s*;?\s*$|=>/.test(lines[head] ?? '') && !/^\s*\{/.test(lines[head + 1] ?? '')) continue;
    const start = leadingStart(lines, indents, { index, family });
    definitions.push({
      name: detached(found.name), kind: found.kind, path,
      startLine: start + 1, endLine: Math.max(head, bodyEnd(lines, indents, index)) + 1, line: index + 1,
      signature: signatureOf(lines.slice(index, head + 1)),
    });
    if (definitions.length === MAX_DEFINITIONS) break;
  }
  return definitions;
}

function isComment(line: string, { name }: Family): boolean {
  return /^\s*(?:\/\/|\/\*|\*(?:[\s/]|$)|--)/.test(line) || (HASH_COMMENTS.has(name) && /^\s*#/.test(line));
}

/** The line in which the parentheses that open in `index` are closed. */
function headEnd(lines: readonly string[], index: number): number {
  let depth = 0;
  for (let at = index; at < Math.min(lines.length, index + MAX_HEAD_LINES); at += 1) {
    const text = lines[at] ?? '';
    if (text.length > 600) return index;
    for (const character of text) {
      if (character === '(' || character === '[') depth += 1;
      else if (character === ')' || character === ']') depth -= 1;
    }
    if (depth <= 0) return at;
  }
  return index;
}

/** The first line of the comments, decorators and attributes right above a definition. */
function leadingStart(lines: readonly string[], indents: Int32Array, { index, family }: { index: number; family: Family }): number {
  const indent = indents[index] ?? 0;
  let start = index;
  while (start > 0 && index - start < MAX_LEADING_LINES) {
    const above = lines[start - 1] ?? '';
    if ((indents[start - 1] ?? BLANK) < indent || !(isComment(above, family) || /^\s*(?:@|\[\w|#!?\[)/.test(above))) break;
    start -= 1;
  }
  return start;
}

/** The last line that is indented deeper than the definition, and the bracket that closes it. */
function bodyEnd(lines: readonly string[], indents: Int32Array, index: number): number {
  const indent = indents[index] ?? 0;
  let end = index;
  for (let at = index + 1; at < Math.min(lines.length, index + MAX_BODY_LINES); at += 1) {
    const depth = indents[at] ?? BLANK;
    if (depth === BLANK) continue;
    if (depth > indent) {
      end = at;
      continue;
    }
    const text = lines[at] ?? '';
    if (depth < indent || !/^\s*(?:[)\]}>]|end\b|\{)/.test(text)) break;
    end = at;
    // `) {` and `): T => {` go on; `}` ends.
    if (!/[{([:,>]\s*$/.test(text)) break;
  }
  return end;
}

function signatureOf(head: readonly string[]): string {
  const text = head.join(' ').slice(0, 4 * MAX_SIGNATURE).replace(/\s+/g, ' ').replace(/\s*[{:]\s*$/, '').trim();
  return detached(text.slice(0, MAX_SIGNATURE));
}
