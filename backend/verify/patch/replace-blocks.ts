import { DIVIDER_MARK, REPLACE_MARK, SEARCH_MARK } from '../../protocol/change-marks.ts';
import { withoutEntities, withoutLineNumbers } from './copied-signs.ts';
import { findLines, whyAbsent } from './place-lines.ts';

/** "Find this text, which occurs once, and put that in its place." */
export interface Replacement {
  readonly search: string;
  readonly replace: string;
  /** `search` need not be whole lines: it is a text as it is. */
  readonly isExact?: boolean;
  /** Every place is meant. */
  readonly all?: boolean;
}

/** The place that some add below the first mark. It is not needed. */
const PLACE = /^\s*:(?:start|end)_line:\s*\d+\s*$/;

export function hasConflictMarkers(lines: readonly string[]): boolean {
  return lines.some((line) => SEARCH_MARK.test(line));
}

/** For the first line of each closed block, the last one. What stands between is text of files, whatever it looks like. */
export function replacementEnds(lines: readonly string[]): ReadonlyMap<number, number> {
  const ends = new Map<number, number>();
  let divider: number | undefined;
  let start: number | undefined;
  for (const [index, line] of lines.entries()) {
    if (start === undefined) {
      if (SEARCH_MARK.test(line)) start = index;
    } else if (divider === undefined) {
      if (DIVIDER_MARK.test(line)) divider = index;
    } else if (REPLACE_MARK.test(line)) {
      ends.set(start, index);
      [start, divider] = [undefined, undefined];
    }
  }
  return ends;
}

/** What opens a block of code instead of a fence, with a language or without: `<source>python`. */
const CODE_TAG = /^\s*<\/?(?:source|sourcecode|code|codeblock|pre)>\s*[\w+#-]*\s*$/;

type FoundReplacement =
  | { readonly path: string | undefined; readonly replacement: Replacement }
  | { readonly path: string | undefined; readonly reason: string };

/**
 * Reads `<<<<<<< SEARCH … ======= … >>>>>>> REPLACE` blocks. The path is `path`, or the closest line above the block that is a single word.
 * Later blocks without a path belong to the same file.
 */
export function readReplacements(lines: readonly string[], path: string | undefined): FoundReplacement[] {
  const found: FoundReplacement[] = [];
  let currentPath = path;
  let section: 'outside' | 'search' | 'replace' = 'outside';
  let search: string[] = [];
  let replace: string[] = [];
  let lineAbove = '';
  let placed = false;
  for (const line of lines) {
    if (section === 'outside') {
      if (SEARCH_MARK.test(line)) {
        const named = /^[#*`\s]*(?:file\s*:)?[`*\s]*([^\s`*#]+?)[`*:\s]*$/i.exec(lineAbove)?.[1];
        if (named !== undefined && /[./\\]/.test(named)) currentPath = named;
        [section, search, replace, lineAbove, placed] = ['search', [], [], '', false];
      } else if (line.trim() !== '' && !/^\s*(`{3,}|~{3,})/.test(line) && !CODE_TAG.test(line)) {
        lineAbove = line.length < 400 ? line : '';
      }
    } else if (section === 'search') {
      if (DIVIDER_MARK.test(line)) section = 'replace';
      else if (search.length === 0 && (PLACE.test(line) || (/^-{5,9}$/.test(line.trim()) && placed))) placed = true;
      else search.push(line);
    } else if (REPLACE_MARK.test(line)) {
      found.push({ path: currentPath, replacement: { search: search.join('\n'), replace: replace.join('\n') } });
      section = 'outside';
    } else {
      replace.push(line);
    }
  }
  if (section !== 'outside')
    found.push({ path: currentPath, reason: 'A search/replace block is not closed: the answer seems to be cut off.' });
  return found;
}

/**
 * The text after one replacement, or why it is impossible. All line ends are LF. What is searched for is found as it is, then with spaces or
 * tabs, numbers and HTML's entities as models write them; always in one place only.
 */
export function applyReplacement(
  text: string, replacement: Replacement, { layoutMatters = true }: { readonly layoutMatters?: boolean } = {},
): { text: string } | { reason: string } {
  const { search, replace, isExact, all } = replacement;
  if (search.trim() === '') return { reason: 'The text to search for is empty.' };
  if (isExact) {
    const parts = text.split(search);
    if (parts.length === 2 || (all && parts.length > 1)) return { text: parts.join(replace) };
    if (parts.length > 2) return { reason: `The text to search for is in the file more than once: ${JSON.stringify(firstLine(search))}` };
  }
  const lines = text.split('\n');
  for (const [from, to] of spellings(replacement)) {
    const finding = findLines(from, lines, 0, { layoutMatters });
    if (finding === 'ambiguous') return { reason: `The text to search for is in the file more than once: ${JSON.stringify(firstLine(search))}` };
    if (finding === 'absent') continue;
    const added = to.length === 1 && to[0] === '' ? [] : to.map((line) => finding.indented(line));
    return { text: [...lines.slice(0, finding.start), ...added, ...lines.slice(finding.start + from.length)].join('\n') };
  }
  return { reason: `The text to search for is not in the file: ${whyAbsent(search.split('\n'), lines)}.` };
}

/** The lines to search for and to put in their place: as written, without blank lines around them, and without copied signs. */
function* spellings({ search, replace }: Replacement): Generator<readonly [readonly string[], readonly string[]]> {
  const [from, to] = [search.split('\n'), replace.split('\n')];
  yield [from, to];
  const core = withoutBlankEnds(from);
  if (core.length < from.length) yield [core, withoutBlankEnds(to)];
  const bare = withoutLineNumbers(core);
  if (bare) yield [bare, withoutLineNumbers(withoutBlankEnds(to)) ?? to];
  const plain = withoutEntities(search);
  if (plain !== undefined) yield [withoutBlankEnds(plain.split('\n')), withoutBlankEnds((withoutEntities(replace) ?? replace).split('\n'))];
}

function withoutBlankEnds(lines: readonly string[]): readonly string[] {
  const start = lines.findIndex((line) => line.trim() !== '');
  return start < 0 ? [''] : lines.slice(start, lines.findLastIndex((line) => line.trim() !== '') + 1);
}

const firstLine = (text: string): string => (text.trim().split('\n', 1)[0] ?? '').slice(0, 80);
