import { isEdit, recordOf, roleOf, type EditRecord } from './edit-record.ts';
import { looksLikePath } from './named-path.ts';

/** Nesting of objects and lists in which edits are looked for. */
const MAX_DEPTH = 8;
const MAX_RECORDS = 2_000;

/**
 * The edits that a JSON text holds. Undefined if it is no JSON, or holds none: then it is data. Line ends inside of strings, which JSON forbids
 * and models write, are read.
 */
export function jsonEdits(text: string): EditRecord[] | undefined {
  const value = parsed(text);
  if (value === undefined) return undefined;
  const found: EditRecord[] = [];
  collect(value, undefined, 0, found);
  return found.length > 0 ? found : undefined;
}

/** Whether a text that cannot be parsed was to be edits in JSON: its beginning names a file and a text. */
export function looksLikeJsonEdits(text: string): boolean {
  const names = [...text.slice(0, 4_000).matchAll(/"(\w+)"\s*:/g)].map(([, name = '']) => roleOf(name));
  return /^\s*[[{]/.test(text) && names.includes('path') && names.some((role) => role === 'old' || role === 'new' || role === 'content' || role === 'diff');
}

function collect(value: unknown, path: string | undefined, depth: number, found: EditRecord[]): void {
  if (depth > MAX_DEPTH || found.length >= MAX_RECORDS) return;
  if (typeof value === 'string' && isEdit({ diff: value })) return void found.push({ diff: value });
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const part of value) collect(part, path, depth + 1, found);
    return;
  }
  const fields = Object.entries(value);
  const record = recordOf(fields, path);
  if (isEdit(record)) {
    found.push(record);
    return;
  }
  for (const [name, part] of fields) {
    // `{ "src/a.js": "the new text" }`, `{ "src/a.js": [{ "search": …, "replace": … }] }`
    const named = looksLikePath(name) && /\.\w+$/.test(name) ? name : undefined;
    if (named !== undefined && typeof part === 'string' && part.includes('\n')) found.push({ path: named, content: part });
    else collect(typeof part === 'string' && /^\s*[[{]/.test(part) ? parsed(part) : part, named ?? record.path, depth + 1, found);
  }
}

function parsed(text: string): unknown {
  const trimmed = text.trim();
  if (!/^[[{]/.test(trimmed)) return undefined;
  for (const spelling of [trimmed, withEscapedLineEnds(trimmed), withoutTrailingCommas(withEscapedLineEnds(trimmed))]) {
    try {
      return JSON.parse(spelling);
    } catch {
      // The next spelling may be one.
    }
  }
  return undefined;
}

/** One pass: line ends and tabs inside of strings become escapes. */
function withEscapedLineEnds(text: string): string {
  let isInside = false;
  let isEscaped = false;
  const parts: string[] = [];
  for (const sign of text) {
    if (isInside && (sign === '\n' || sign === '\t' || sign === '\r')) parts.push(sign === '\n' ? '\\n' : sign === '\t' ? '\\t' : '\\r');
    else parts.push(sign);
    if (sign === '"' && !isEscaped) isInside = !isInside;
    isEscaped = isInside && sign === '\\' && !isEscaped;
  }
  return parts.join('');
}

const withoutTrailingCommas = (text: string): string => text.replaceAll(/,(\s*[\]}])/g, '$1');
