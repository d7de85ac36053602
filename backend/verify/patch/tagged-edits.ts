import { isEdit, recordOf, roleOf, type EditRecord } from './edit-record.ts';
import { jsonEdits } from './json-edits.ts';
import { looksLikePath } from './named-path.ts';

/*
 * Edits between tags: `<file path="src/a.js">…</file>`, `<write_to_file><path>…</path><content>…</content></write_to_file>`,
 * `<parameter name="old_str">…</parameter>`. Code is full of signs like these, so only what has a path or is named like a field is a tag.
 */

export type TaggedPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'edits'; readonly records: readonly EditRecord[] }
  | { readonly kind: 'cut-off'; readonly path: string };

interface Tag {
  readonly name: string;
  readonly fields: readonly (readonly [string, string])[];
  readonly end: number;
  readonly isClosed: boolean;
}

const MAX_DEPTH = 6;

/** Splits an answer into edits between tags and the text around them. Fences outside of tags are text. */
export function splitTags(answer: string): TaggedPart[] {
  const parts: TaggedPart[] = [];
  let text: string[] = [];
  let fence: string | undefined;
  const lines = answer.split('\n');
  let offset = 0;
  let index = 0;
  const endText = (): void => {
    if (text.length > 0) parts.push({ kind: 'text', text: text.join('\n') });
    text = [];
  };
  while (index < lines.length) {
    const line = lines[index] ?? '';
    const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark !== undefined) fence = fence === undefined ? mark : mark.startsWith(fence) && /^\s*[`~]+\s*$/.test(line) ? undefined : fence;
    const start = fence === undefined && /^\s*<[A-Za-z]/.test(line) ? offset + line.indexOf('<') : undefined;
    const element = start === undefined ? undefined : readEdits(answer, start);
    if (element) {
      endText();
      parts.push(element.part);
      while (index < lines.length && offset < element.end) {
        offset += (lines[index] ?? '').length + 1;
        index += 1;
      }
      continue;
    }
    text.push(line);
    offset += line.length + 1;
    index += 1;
  }
  endText();
  return parts;
}

/** The edits that begin at an index: one element, or two siblings that hold the old and the new text. */
function readEdits(text: string, start: number): { part: TaggedPart; end: number } | undefined {
  const tag = readTag(text, start);
  if (!tag) return undefined;
  const role = roleOf(tag.name);
  const named = recordOf(tag.fields).path;
  if (named === undefined && (role === 'old' || role === 'new' || role === 'path')) return readSiblings(text, start);
  const close = closing(text, tag);
  if (close === undefined) {
    const path = named ?? pathInside(text.slice(tag.end, tag.end + 2_000));
    return path !== undefined && (named !== undefined || isTool(tag.name)) && looksLikePath(path)
      ? { part: { kind: 'cut-off', path }, end: text.length }
      : undefined;
  }
  const inner = text.slice(tag.end, close.start);
  const records = /^\s*[[{]/.test(inner) && named === undefined ? (jsonEdits(inner) ?? []) : recordsOf(tag, inner, undefined, 0);
  return records.length > 0 ? { part: { kind: 'edits', records }, end: close.end } : undefined;
}

const isTool = (name: string): boolean => /write|replace|edit|create|diff|patch|file|str_|apply|invoke|function|tool/i.test(name);
const pathInside = (text: string): string | undefined => /<(?:path|file_?path|file_?name|target_file|parameter(?: name)?="?(?:path|file_path|target_file)"?)>\s*([^<\s]+)\s*</i.exec(text)?.[1];

/** `<path>…</path><search>…</search><replace>…</replace>` without anything around them. */
function readSiblings(text: string, start: number): { part: TaggedPart; end: number } | undefined {
  const fields: (readonly [string, string])[] = [];
  const records: EditRecord[] = [];
  let at = start;
  let end = start;
  let path: string | undefined;
  for (;;) {
    const tag = readTag(text, at);
    const close = tag && roleOf(tag.name) !== undefined ? closing(text, tag) : undefined;
    if (!tag || !close) break;
    fields.push([tag.name, textOf(text.slice(tag.end, close.start), roleOf(tag.name) === 'path')]);
    const record = recordOf(fields, path);
    if (isEdit(record)) {
      records.push(record);
      path = record.path;
      fields.length = 0;
    }
    end = close.end;
    at = end + (/^\s*/.exec(text.slice(end, end + 500))?.[0].length ?? 0);
  }
  return records.length > 0 ? { part: { kind: 'edits', records }, end } : undefined;
}

function recordsOf(tag: Tag, inner: string, inherited: string | undefined, depth: number): EditRecord[] {
  if (depth > MAX_DEPTH) return [];
  const children = childrenOf(inner);
  const own = recordOf(tag.fields, inherited);
  if (children.length === 0) {
    const role = roleOf(tag.name);
    const record: EditRecord = /<{5,9}|-{5,9} SEARCH|^@@/m.test(inner) || role === 'diff'
      ? { ...own, diff: textOf(inner) }
      : { ...own, content: textOf(inner), action: own.action ?? tag.name };
    if (/^(?:delete|remove)/i.test(tag.name) && inner.trim() !== '' && own.path === undefined && looksLikePath(inner.trim()))
      return [{ path: inner.trim(), action: 'delete' }];
    if (/^(?:delete|remove)/i.test(own.action ?? tag.name) && own.path !== undefined) return [{ path: own.path, action: 'delete' }];
    return own.path !== undefined && inner.trim() !== '' && isEdit(record) ? [record] : [];
  }
  const fields = children.map(({ tag: child, inner: text }): [string, string] => [fieldOf(child), textOf(text, roleOf(fieldOf(child)) === 'path')]);
  const record = recordOf([...tag.fields.filter(([name]) => roleOf(name) !== 'action' || !/^(?:function|invoke|tool)/i.test(tag.name)), ...fields.filter(([name]) => roleOf(name) !== undefined)], inherited);
  const olds = fields.filter(([name]) => roleOf(name) === 'old').length;
  if (olds <= 1 && isEdit({ ...record, others: 0 })) {
    // A list of edits as JSON, or a diff, in one field.
    return [/^(?:delete|remove)/i.test(tag.name) ? { path: record.path, action: 'delete' } : record];
  }
  if (/^(?:delete|remove)/i.test(tag.name) && record.path !== undefined) return [{ path: record.path, action: 'delete' }];
  if (olds > 1) return pairs(fields, record.path);
  return children.flatMap(({ tag: child, inner: text }) => recordsOf(child, text, record.path ?? inherited, depth + 1));
}

/** Several old and new texts in one element, in turn. */
function pairs(fields: readonly (readonly [string, string])[], path: string | undefined): EditRecord[] {
  const texts = fields.filter(([name]) => ['old', 'new'].includes(roleOf(name) ?? ''));
  const found: EditRecord[] = [];
  for (let index = 0; index + 1 < texts.length; index += 2) {
    const record = recordOf(texts.slice(index, index + 2), path);
    if (isEdit(record)) found.push(record);
  }
  return found;
}

/** `<parameter name="path">` and `<parameter=path>` are fields by their attribute. */
const fieldOf = ({ name, fields }: Tag): string => {
  if (roleOf(name) !== undefined && roleOf(name) !== 'ignored') return name;
  return fields.find(([key]) => key === 'name' || key === '')?.[1] ?? name;
};

/** The elements of a text that begins with one and has nothing else. Otherwise it is text. */
function childrenOf(inner: string): { tag: Tag; inner: string }[] {
  const children: { tag: Tag; inner: string }[] = [];
  let at = /^\s*/.exec(inner)?.[0].length ?? 0;
  while (at < inner.length) {
    const tag = readTag(inner, at);
    if (!tag || (children.length === 0 && !isField(tag))) return children.length > 0 && inner.slice(at).trim() !== '' && !tag ? children : [];
    const close = closing(inner, tag);
    if (!close) return [];
    children.push({ tag, inner: inner.slice(tag.end, close.start) });
    at = close.end + (/^\s*/.exec(inner.slice(close.end))?.[0].length ?? 0);
  }
  return children;
}

function isField(tag: Tag): boolean {
  return roleOf(fieldOf(tag)) !== undefined || recordOf(tag.fields).path !== undefined || /^(?:edits?|changes?|files?|args|arguments|invoke|parameter|function|operations?|artifact|bolt\w+|hunk|replacements?|create|modify|update|delete)$/i.test(tag.name);
}

const TAG = /<([A-Za-z][\w.:-]*)(?:=([\w.-]+))?((?:\s+[\w:-]+(?:\s*=\s*(?:"[^"<]{0,1000}"|'[^'<]{0,1000}'|[^\s"'<>/]{1,500}))?){0,12})\s*(\/?)>/y;

function readTag(text: string, at: number): Tag | undefined {
  TAG.lastIndex = at;
  const match = TAG.exec(text);
  if (!match) return undefined;
  const [whole, name = '', value, attributes = '', slash] = match;
  const fields = [...attributes.matchAll(/([\w:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>/]+))/g)].map(([, key = '', a, b, c]): [string, string] => [key, a ?? b ?? c ?? '']);
  // `<artifact title="src/a.js">`: a name that is a path is one.
  const renamed = fields.map(([key, text]): [string, string] => (/^(?:name|title|identifier|id|src|for|href)$/i.test(key) && looksLikePath(text) && /\.\w+$/.test(text) ? ['path', text] : [key, text]));
  return { name, fields: value === undefined ? renamed : [['', value], ...renamed], end: at + whole.length, isClosed: slash === '/' };
}

/** Where a tag's element ends. Elements of the same name may stand inside. */
function closing(text: string, tag: Tag): { start: number; end: number } | undefined {
  if (tag.isClosed) return { start: tag.end, end: tag.end };
  const name = tag.name.replaceAll(/[.]/g, '\\.');
  const either = new RegExp(`<(/?)${name}(?=[\\s>=/])[^<>]{0,2000}>`, 'g');
  either.lastIndex = tag.end;
  let depth = 1;
  for (let match = either.exec(text); match; match = either.exec(text)) {
    if (match[0].endsWith('/>')) continue;
    depth += match[1] === '/' ? -1 : 1;
    if (depth === 0) return { start: match.index, end: match.index + match[0].length };
  }
  return undefined;
}

/** The text of an element without the line ends beside its tags. */
function textOf(inner: string, isName = false): string {
  const data = /^\s*<!\[CDATA\[([\s\S]*?)\]\]>\s*$/.exec(inner)?.[1] ?? inner;
  return isName ? data.trim() : data.replace(/^[ \t]*\n/, '').replace(/\n[ \t]*$/, '');
}
