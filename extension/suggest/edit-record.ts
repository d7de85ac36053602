import type { RecentEdit } from '../../backend/protocol/suggestions.ts';
import { MAX_EDIT_LENGTH, MAX_EDITS } from '../../backend/protocol/suggestion-limits.ts';

/** One change of a document, as the editor tells it: a range of the document before the change, and what stands there now. */
export interface TextChange {
  readonly startLine: number;
  readonly startCharacter: number;
  readonly endLine: number;
  readonly endCharacter: number;
  readonly text: string;
}

interface Region {
  readonly path: string;
  /** Where the region begins now, and how many lines it has now. */
  readonly start: number;
  /** At least one: a change leaves a line, if an empty one. */
  readonly count: number;
  /** As it was before the first change to it. */
  readonly before: readonly string[];
}

/** Regions closer than this are one edit. */
const TOUCHING = 1;
/** Longer documents are not followed: every change would be as slow as they are long. */
const MAX_LINES = 20_000;
const MAX_DOCUMENTS = 20;

/**
 * What was edited last, as lines before and after. An editor tells only what stands there now, so the lines of each document are kept as they
 * were. What happens in a document that was never in view is not known.
 */
export class EditRecord {
  readonly #lines = new Map<string, readonly string[]>();
  #regions: Region[] = [];

  /** Called when a document comes into view. */
  open(path: string, text: () => string): void {
    if (this.#lines.has(path)) return;
    const lines = linesOf(text());
    if (lines.length > MAX_LINES) return;
    this.#lines.set(path, lines);
    const [oldest] = this.#lines.keys();
    if (this.#lines.size > MAX_DOCUMENTS && oldest !== undefined) this.close(oldest);
  }

  close(path: string): void {
    this.#lines.delete(path);
    this.#regions = this.#regions.filter((region) => region.path !== path);
  }

  /** @param changes of one event, all told in the lines of the document before it */
  changed(path: string, changes: readonly TextChange[]): void {
    // From the end to the beginning, so that none moves another.
    const ordered = changes.toSorted((a, b) => b.startLine - a.startLine || b.startCharacter - a.startCharacter);
    for (const change of ordered) this.#change(path, change);
  }

  #change(path: string, { startLine, startCharacter, endLine, endCharacter, text }: TextChange): void {
    const lines = this.#lines.get(path);
    if (!lines) return;
    const first = lines[startLine];
    const last = lines[endLine];
    const now = first === undefined || last === undefined ? undefined : linesOf(first.slice(0, startCharacter) + text + last.slice(endCharacter));
    if (!now || lines.length + now.length > MAX_LINES) {
      this.close(path);
      return;
    }
    const delta = now.length - (endLine - startLine + 1);
    const touched = this.#regions.filter((region) =>
      region.path === path && startLine <= region.start + region.count - 1 + TOUCHING && endLine >= region.start - TOUCHING);
    const from = Math.min(startLine, ...touched.map(({ start }) => start));
    const to = Math.max(endLine, ...touched.map(({ start, count }) => start + count - 1));
    const before: string[] = [];
    for (let line = from; line <= to;) {
      const region = touched.find(({ start }) => start === line);
      before.push(...(region?.before ?? [lines[line] ?? '']));
      line += region?.count ?? 1;
    }
    this.#lines.set(path, [...lines.slice(0, startLine), ...now, ...lines.slice(endLine + 1)]);
    const others = this.#regions.filter((region) => !touched.includes(region)).map((region) =>
      region.path === path && region.start > endLine ? { ...region, start: region.start + delta } : region);
    this.#regions = [...others, { path, start: from, count: to - from + 1 + delta, before }].slice(-2 * MAX_EDITS);
  }

  /**
   * The edits that are short enough, the newest last.
   * @param cursor what is being written there is no edit yet
   */
  recent(cursor: { readonly path: string; readonly line: number }): RecentEdit[] {
    return this.#regions.flatMap(({ path, start, count, before }) => {
      const isHere = path === cursor.path && cursor.line >= start - TOUCHING && cursor.line <= start + count - 1 + TOUCHING;
      const edit = { path, line: start, before: before.join('\n'), after: (this.#lines.get(path) ?? []).slice(start, start + count).join('\n') };
      const isShort = edit.before.length <= MAX_EDIT_LENGTH && edit.after.length <= MAX_EDIT_LENGTH;
      return isHere || !isShort || edit.before === edit.after ? [] : [edit];
    }).slice(-MAX_EDITS);
  }

  clear(): void {
    this.#lines.clear();
    this.#regions = [];
  }
}

function linesOf(text: string): string[] {
  return text.split(/\r\n|\r|\n/);
}
