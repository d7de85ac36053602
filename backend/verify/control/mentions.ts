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
  readonly #proses: readonly { readonly startIndex: number; readonly text: string }[];
  /** Several tests may expect the same value, or a part of what another one expects. The first one decides how it is mentioned. */
  readonly #made: Edit[] = [];

  constructor(text: string, proses: readonly Node[]) {
    this.#text = text;
    this.#proses = proses.map((node) => ({ startIndex: node.startIndex, text: node.text })).filter(({ text: prose }) => !DIRECTIVE.test(prose));
  }

  of(edits: readonly Edit[]): readonly Edit[] {
    return edits.flatMap(({ start, end, text }) => {
      const original = this.#text.slice(start, end);
      if (!/^\w/.test(original) || COMMON.test(original)) return [];
      // The verb of a format is no mention: Go builds no test with one that there is not.
      const mention = new RegExp(String.raw`(?<![\w.])(?<!%[-+# 0*]*\[?|%\()${escapeRegExp(original)}(?!\w)`, 'g');
      return this.#proses.filter((prose) => prose.text.includes(original)).flatMap((prose) =>
        [...prose.text.matchAll(mention)].map(({ index }) => this.#once({ start: prose.startIndex + index, end: prose.startIndex + index + original.length, text })),
      );
    });
  }

  /** The edit, or the one made before in its place. */
  #once(edit: Edit): Edit {
    const made = this.#made.find(({ start, end }) => start < edit.end && edit.start < end);
    if (!made) this.#made.push(edit);
    return made ?? edit;
  }
}
