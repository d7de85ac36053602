import type { Item } from '../syntax/outline.ts';
import { NoSinglePlace } from './no-single-place.ts';

/*
 * Statements have no name. A call with a callback is known by the line that opens it, `app.get('/', (req, res) => {`, and a test or a suite of
 * tests may stand anywhere in its file.
 */

interface Code {
  readonly text: string;
  readonly items: readonly Item[];
}

const SUITE = /^(?:describe|suite|context)\b[\w.]*\s*\(/;
const TEST = /^(?:test|it)\b[\w.]*\s*\(/;

const textOf = (text: string, { start, end }: Item): string => text.slice(start, end);

export const isSuite = (text: string, item: Item): boolean => item.inside !== undefined && SUITE.test(textOf(text, item));
export const isTest = (text: string, item: Item): boolean => item.kind === 'statement' && TEST.test(textOf(text, item));

/** Whether the file has a statement, too: then it changes nothing. */
export function isThere({ words }: Item, theirs: readonly Item[]): boolean {
  return theirs.some((other) => other.words === words || (other.kind === 'statement' && other.words.includes(words)));
}

/** The only statement of the file that begins with the same line. */
export function sameOpening(block: string, item: Item, file: string, theirs: readonly Item[]): Item | undefined {
  const opening = openingOf(textOf(block, item));
  if (opening === undefined) return undefined;
  const found = theirs.filter((other) => other.kind === 'statement' && openingOf(textOf(file, other)) === opening);
  return found.length === 1 ? found[0] : undefined;
}

/** The first line of a statement of several lines, if it opens something and says enough to be told from others. */
function openingOf(text: string): string | undefined {
  const [first = '', ...others] = text.split('\n');
  return others.length > 0 && /[({[]\s*$/.test(first) && (first.match(/[\p{L}\d_$]+/gu) ?? []).length > 1 ? first.trim() : undefined;
}

/**
 * The suite for a test alone: the only one, or the one whose title is quoted above the block. None where tests stand outside of suites.
 * @throws NoSinglePlace
 */
export function suiteFor({ text, items }: Code, prose: string): Item | undefined {
  const suites = items.filter((item) => isSuite(text, item));
  if (suites.length === 0 || items.some((item) => isTest(text, item))) return undefined;
  const titled = suites.filter((suite) => {
    const title = /^[^('"`]*\(\s*(['"`])(.+?)\1/.exec(textOf(text, suite))?.[2];
    return title !== undefined && new RegExp(`["'\`]${title.replaceAll(/\W/g, '\\$&')}["'\`]`).test(prose);
  });
  const [suite, ...others] = suites.length === 1 ? suites : titled;
  if (!suite || others.length > 0) throw new NoSinglePlace('it is not clear which suite the test belongs to');
  return suite;
}
