import { similarity } from './line-similarity.ts';
import { findLines, starts, whyAbsent, type FoundLines } from './place-lines.ts';

/** Changed lines with their surroundings. What else is known of their place is there or not. */
export interface LooseHunk {
  /** Context, deleted and added lines with their first character. */
  readonly lines: readonly string[];
  /** The number of its first line in the file, from 1, as stated. */
  readonly line?: number | undefined;
  /** Lines that stand above it in the file. */
  readonly scopes?: readonly string[];
  readonly isAtEnd?: boolean;
  /** It has as many lines as its header says, so nothing of it was cut off. */
  readonly isComplete?: boolean;
  /** Unchanged lines between the changes may be missing. */
  readonly hasGaps?: boolean;
}

/** Limit of hunks times lines of the file. Each hunk may be searched in the whole file, synchronously. This many take about half a second. */
const MAX_LINES_LOOKED_AT = 10_000_000;

/** How many context lines of a hunk may differ from the file, as in patch(1). Deleted lines must always be there. */
const FUZZ_LINES = 2;

interface PlacedHunk {
  readonly start: number;
  readonly end: number;
  readonly lines: readonly string[];
}

class Unplaced extends Error {}

/** The text after the hunks, or why they do not fit. Lines end with LF; a missing last line end stays missing. */
export function placeHunks(text: string, hunks: readonly LooseHunk[], { layoutMatters }: { readonly layoutMatters: boolean }): { text: string } | { reason: string } {
  const hasEnd = text.endsWith('\n');
  const lines = text === '' ? [] : (hasEnd ? text.slice(0, -1) : text).split('\n');
  if (hunks.length * lines.length > MAX_LINES_LOOKED_AT) return { reason: 'The diff cannot be read (it has too many parts for so long a file).' };
  try {
    const placed: PlacedHunk[] = [];
    for (const hunk of hunks) placed.push(...placesOf(hunk, lines, placed.at(-1)?.end ?? 0, layoutMatters));
    const ordered = placed.toSorted((a, b) => a.start - b.start || a.end - b.end);
    const result: string[] = [];
    let at = 0;
    for (const { start, end, lines: added } of ordered) {
      if (start < at) throw new Unplaced('Two parts of the diff change the same lines.');
      result.push(...lines.slice(at, start), ...added);
      at = end;
    }
    result.push(...lines.slice(at));
    const end = (hasEnd || text === '') && result.length > 0 ? '\n' : '';
    return { text: result.join('\n') + end };
  } catch (error) {
    if (!(error instanceof Unplaced)) throw error;
    return { reason: error.message };
  }
}

function placesOf(hunk: LooseHunk, text: readonly string[], from: number, layoutMatters: boolean): PlacedHunk[] {
  const changes = hunk.lines.some((line) => /^[+-]/.test(line));
  if (!changes) return [];
  const found = placeOf(hunk, text, from, layoutMatters);
  if (typeof found === 'object') return [found];
  if (hunk.hasGaps) {
    const parts = withoutGaps(hunk.lines);
    if (parts.length > 1) {
      const placed: PlacedHunk[] = [];
      for (const part of parts) placed.push(placeOfPart(part, text, placed.at(-1)?.end ?? from, layoutMatters));
      return placed;
    }
  }
  if (found === 'ambiguous') throw new Unplaced(`The diff fits more than one place of the file: ${shown(hunk.lines)}`);
  const old = hunk.lines.filter((line) => !line.startsWith('+')).map((line) => line.slice(1));
  const why = old.every((line) => line.trim() === '') ? 'it does not say below which line it adds what it adds' : whyAbsent(old, text);
  throw new Unplaced(`The diff does not fit the file as it is: ${why}.`);
}

const shown = (lines: readonly string[]): string =>
  JSON.stringify((lines.find((line) => !line.startsWith('+') && /[\p{L}\d]/u.test(line)) ?? lines[0] ?? '').slice(1).trim().slice(0, 80));

function placeOf(hunk: LooseHunk, text: readonly string[], from: number, layoutMatters: boolean): PlacedHunk | 'absent' | 'ambiguous' {
  const old = hunk.lines.filter((line) => !line.startsWith('+')).map((line) => line.slice(1));
  if (old.every((line) => line.trim() === '')) return addition(hunk, text);
  // A model may leave out the space before a context line. Then the line is as in the file.
  const raw = hunk.lines.filter((line) => !line.startsWith('+')).map((line) => (line.startsWith('-') ? line.slice(1) : line));
  let finding = findLines(old, text, 0, { layoutMatters });
  if (typeof finding === 'string' || !isExact(old, text, finding)) {
    const other = findLines(raw, text, 0, { layoutMatters });
    if (typeof other === 'object' && isExact(raw, text, other)) finding = other;
  }
  if (finding === 'ambiguous') finding = narrowed(old, hunk, text, from) ?? finding;
  if (finding === 'absent') finding = fuzzy(hunk.lines, text);
  return typeof finding === 'object' ? placed(hunk.lines, text, finding) : finding;
}

const isExact = (needle: readonly string[], text: readonly string[], { start }: FoundLines): boolean =>
  needle.every((line, index) => line.trimEnd() === text[start + index]?.trimEnd());

function placed(lines: readonly string[], text: readonly string[], { start, indented }: FoundLines): PlacedHunk {
  const result: string[] = [];
  let at = start;
  for (const line of lines) {
    if (line.startsWith('+')) result.push(indented(line.slice(1)));
    else {
      if (!line.startsWith('-')) result.push(text[at] ?? '');
      at += 1;
    }
  }
  return { start, end: at, lines: result };
}

/** Of several places, the one that the stated line, the scopes, the end of the file or the order of the hunks leaves. */
function narrowed(old: readonly string[], hunk: LooseHunk, text: readonly string[], from: number): FoundLines | undefined {
  const equal = (a: string, b: string): boolean => a.trimEnd() === b.trimEnd();
  const at = (start: number): FoundLines => ({ start, indented: (line) => line });
  const matches = (start: number): boolean => old.every((line, index) => equal(line, text[start + index] ?? ''));
  if (hunk.line !== undefined && matches(hunk.line - 1)) return at(hunk.line - 1);
  if (hunk.isAtEnd && matches(text.length - old.length)) return at(text.length - old.length);
  const scope = scopeEnd(hunk.scopes ?? [], text);
  if (scope !== undefined) {
    const [first] = starts(old, text, scope, equal);
    return first === undefined ? undefined : at(first);
  }
  const [next, ...others] = from === 0 ? [] : starts(old, text, from, equal);
  return next !== undefined && others.length === 0 ? at(next) : undefined;
}

/** The index below the lines that a hunk is in. Undefined if there is none, or one is there more than once. */
function scopeEnd(scopes: readonly string[], text: readonly string[]): number | undefined {
  let from: number | undefined;
  for (const scope of scopes) {
    const wanted = scope.trim();
    const whole = text.flatMap((line, index) => (index >= (from ?? 0) && line.trim() === wanted ? [index] : []));
    const begun = whole.length > 0 ? whole : text.flatMap((line, index) => (index >= (from ?? 0) && line.trim().startsWith(wanted) ? [index] : []));
    if (begun.length !== 1 || begun[0] === undefined) return undefined;
    from = begun[0] + 1;
  }
  return from;
}

/** A hunk that only adds stands below its scope, or at the end of the file. */
function addition(hunk: LooseHunk, text: readonly string[]): PlacedHunk | 'absent' | 'ambiguous' {
  const added = hunk.lines.filter((line) => line.startsWith('+')).map((line) => line.slice(1));
  if (text.length === 0) return { start: 0, end: 0, lines: added };
  if (hunk.scopes && hunk.scopes.length > 0) {
    const at = scopeEnd(hunk.scopes, text);
    return at === undefined ? 'ambiguous' : { start: at, end: at, lines: added };
  }
  return hunk.isAtEnd ? { start: text.length, end: text.length, lines: added } : 'absent';
}

/** The only place where all deleted lines are, and most of the context with a line that says something. */
function fuzzy(lines: readonly string[], text: readonly string[]): FoundLines | 'absent' | 'ambiguous' {
  const old = lines.filter((line) => !line.startsWith('+'));
  const found: { start: number; wrong: number }[] = [];
  for (let start = 0; start + old.length <= text.length; start += 1) {
    let wrong = 0;
    let telling = 0;
    for (const [index, line] of old.entries()) {
      const isSame = line.slice(1).trimEnd() === text[start + index]?.trimEnd();
      if (isSame && /[\p{L}\d]/u.test(line)) telling += 1;
      if (!isSame) wrong += line.startsWith('-') ? FUZZ_LINES + 1 : 1;
      if (wrong > FUZZ_LINES) break;
    }
    if (wrong > FUZZ_LINES || !old.every((line, index) => isRemembered(line.slice(1), text[start + index] ?? ''))) continue;
    if (telling > 0 && wrong < old.length - wrong) found.push({ start, wrong });
  }
  const least = Math.min(...found.map(({ wrong }) => wrong));
  const [best, ...others] = found.filter(({ wrong }) => wrong === least);
  if (!best) return 'absent';
  return others.length > 0 ? 'ambiguous' : { start: best.start, indented: (line) => line };
}

/** Whether a context line could be the file's, remembered wrongly. */
const isRemembered = (line: string, theirs: string): boolean => line.trimEnd() === theirs.trimEnd() || similarity(line, theirs) >= 0.3;

/** The changes of a hunk that leaves out unchanged lines between them, each with the context above it and the first line below. */
function withoutGaps(lines: readonly string[]): { before: string[]; changes: string[]; after: string[] }[] {
  const parts: { before: string[]; changes: string[]; after: string[] }[] = [];
  let context: string[] = [];
  for (const line of lines) {
    if (/^[+-]/.test(line)) {
      const last = parts.at(-1);
      if (last && context.length === 0 && last.after.length === 0) last.changes.push(line);
      else parts.push({ before: context, changes: [line], after: [] });
      if (last && context.length > 0) last.after = [...context];
      context = [];
    } else if (/^\s*(?:\.{3}|…)\s*$/.test(line)) {
      const last = parts.at(-1);
      if (last && last.after.length === 0) last.after = [...context];
      context = [];
    } else context.push(line);
  }
  const last = parts.at(-1);
  if (last && last.after.length === 0) last.after = context;
  return parts;
}

/** Takes as much context as is there, from the changes outwards. */
function placeOfPart(
  { before, changes, after }: { before: string[]; changes: string[]; after: string[] }, text: readonly string[], from: number, layoutMatters: boolean,
): PlacedHunk {
  const isAddition = changes.every((line) => line.startsWith('+'));
  for (let above = before.length; above >= 0; above -= 1) {
    for (let below = after.length; below >= 0; below -= 1) {
      if (isAddition && above + below === 0) continue;
      const lines = [...before.slice(before.length - above), ...changes, ...after.slice(0, below)];
      const found = placeOf({ lines }, text, from, layoutMatters);
      if (typeof found === 'object' && found.start >= from) return found;
    }
  }
  throw new Unplaced(`The diff does not fit the file as it is: ${shown(changes)}`);
}
