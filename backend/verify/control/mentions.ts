import { escapeRegExp } from '../../common/escape-regexp.ts';
import type { Edit } from '../syntax/edits.ts';
import type { Node } from '../syntax/parse.ts';

/** Comments that tools read. */
const DIRECTIVE = /coding[:=]|noqa|pragma|type:|pylint|fmt:|ruff|mypy|pyright|eslint|prettier|istanbul|c8 |v8 |@ts-|@vitest|@jest|^#!/;

/** Values that stand in too many places to be of the altered one. */
const COMMON = /^(?:True|False|None|true|false|null|undefined)$/;

/**
 * Where comments, descriptions and messages mention a value that is altered: `# 600 in all`. There it is altered, too, because code that
 * reads the file of its test would find the original in them.
 */
export class Mentions {
  readonly #text: string;
  readonly #proses: readonly Pick<Node, 'startIndex' | 'endIndex'>[];
  /** Several tests may expect the same value. The first one decides how it is mentioned. */
  readonly #made = new Map<number, Edit>();

  constructor(text: string, proses: readonly Node[]) {
    this.#text = text;
    this.#proses = proses.filter(({ text: prose }) => !DIRECTIVE.test(prose)).map(({ startIndex, endIndex }) => ({ startIndex, endIndex }));
  }

  of(edits: readonly Edit[]): readonly Edit[] {
    return edits.flatMap(({ start, end, text }) => {
      const original = this.#text.slice(start, end);
      if (!/^\w/.test(original) || COMMON.test(original)) return [];
      // The verb of a format is no mention: Go builds no test with one that there is not.
      const mention = new RegExp(String.raw`(?<![\w.])(?<!%[-+# 0*]*\[?|%\()${escapeRegExp(original)}(?!\w)`, 'g');
      return this.#proses.flatMap(({ startIndex, endIndex }) =>
        [...this.#text.slice(startIndex, endIndex).matchAll(mention)].flatMap(({ index }) => this.#once({ start: startIndex + index, end: startIndex + index + original.length, text })),
      );
    });
  }

  #once(edit: Edit): Edit {
    const made = this.#made.get(edit.start) ?? edit;
    this.#made.set(edit.start, made);
    return made;
  }
}
