import { diffArrays } from 'diff';
import { NoSinglePlace } from './no-single-place.ts';
import { dedented, indentOf, inTabsOrSpacesOf } from './indentation.ts';
import { similarity } from './line-similarity.ts';

/*
 * Some blocks begin and end in the middle of something: statements of a function, arms of a match, entries of a dictionary, members of a class.
 * No name tells their place, but lines that they do not change do. Both ends must be such lines.
 */

export interface FragmentHints {
  /** Whether the answer says that something is to be deleted. */
  readonly mayDelete: boolean;
}

interface Place {
  /** The lines of the file that the fragment takes the place of, the end excluded. */
  readonly start: number;
  readonly end: number;
  /** The fragment at the file's indentation. */
  readonly lines: readonly string[];
  readonly cost: number;
}

const MAX_COMPARISONS = 1_000_000;
/** So many more lines than the fragment has may be exchanged for it. */
const MAX_MORE = 30;
/** The next best place must differ from the fragment by so many lines more. */
const MARGIN = 1;
/** An exchange may delete so many lines for each one that it adds. */
const MAX_DELETED = 2;

/** The file with the fragment in its only place; the file itself if it has the fragment already. @throws NoSinglePlace */
export function placeFragment(fragment: string, file: string, { mayDelete }: FragmentHints): string {
  const lines = withoutBlankEnds(inTabsOrSpacesOf(file, dedented(fragment)).split('\n'));
  const target = file.split('\n');
  const [first, last] = [lines[0] ?? '', lines.at(-1) ?? ''];
  const [starts, ends] = [anchors(first, target), anchors(last, target)];
  if (starts.length === 0) throw new NoSinglePlace(`its first line ${quoted(first)} is not in the file`);
  if (ends.length === 0) throw new NoSinglePlace(`its last line ${quoted(last)} is not in the file`);
  const [best, ...others] = placesOf(lines, target, { starts, ends });
  if (!best) throw new NoSinglePlace(`its lines ${quoted(first)} and ${quoted(last)} do not stand in this order and at this indentation in the file`);
  const replaced = target.slice(best.start, best.end);
  if (!best.lines.some((line) => wordsIn(line) > 1 && replaced.includes(line))) throw new NoSinglePlace('its lines tell too little of where they belong');
  if (others.some(({ cost }) => cost - best.cost < MARGIN)) throw new NoSinglePlace(`its lines from ${quoted(first)} to ${quoted(last)} could stand in more than one place of the file`);
  if (!mayDelete) refuseSilentDeletion(replaced, best.lines);
  return [...target.slice(0, best.start), ...best.lines, ...target.slice(best.end)].join('\n');
}

/** The lines of the file that an end of the fragment can be: the same one, or the only one with the same key. */
function anchors(line: string, target: readonly string[]): number[] {
  const same = indicesOf(target, (other) => other.trim() === line.trim());
  const key = same.length === 0 ? keyOf(line) : undefined;
  const alike = key === undefined ? [] : indicesOf(target, (other) => keyOf(other) === key);
  return alike.length === 1 ? alike : same;
}

/** A longer line is known only as a whole. */
const MAX_KEYED = 200;

/** What stands before the arrow or the colon of a match's arm, a `when`'s branch or an entry of a dictionary. */
function keyOf(line: string): string | undefined {
  if (line.length > MAX_KEYED) return undefined;
  const key = (/^([^=]*?)(?:=>|->)/.exec(line)?.[1] ?? /^\s*(?:"[^"]+"|'[^']+')(?=\s*:)/.exec(line)?.[0])?.trim();
  return key === undefined || !/^["']?[\p{L}\d_]/u.test(key) || /\b(?:fn|func|fun|function|const|let|return|def)\b/.test(key) ? undefined : key;
}

function indicesOf(lines: readonly string[], is: (line: string) => boolean): number[] {
  return lines.flatMap((line, index) => (is(line) ? [index] : []));
}

/** The places for the fragment, the cheapest first. */
function placesOf(
  lines: readonly string[], target: readonly string[], { starts, ends }: { readonly starts: readonly number[]; readonly ends: readonly number[] },
): Place[] {
  const places: Place[] = [];
  let comparisons = 0;
  for (const start of starts) {
    for (const moved of atIndentOf(lines, target[start] ?? '')) {
      for (const end of ends) {
        if (end < start || end - start > lines.length + MAX_MORE || indentOf(moved.at(-1) ?? '') !== indentOf(target[end] ?? '')) continue;
        comparisons += lines.length * (end - start + 1);
        if (comparisons > MAX_COMPARISONS) throw new NoSinglePlace('its lines could stand in too many places of the file');
        places.push({ start, end: end + 1, lines: moved, cost: costOf(target.slice(start, end + 1), moved) });
      }
    }
  }
  return places.toSorted((a, b) => a.cost - b.cost);
}

/**
 * The fragment moved to where its first line stands in the file; also as it is below a first line that lost its indentation where it was copied.
 * None where other lines would have to stand further out than the file's margin.
 */
function atIndentOf(lines: readonly string[], first: string): string[][] {
  const [own = '', ...rest] = lines;
  const [from, to] = [indentOf(own), indentOf(first)];
  const found: string[][] = [];
  if (to.endsWith(from)) {
    const margin = to.slice(0, to.length - from.length);
    found.push(lines.map((line) => (line.trim() === '' ? '' : margin + line)));
  }
  if (from === '' && to !== '' && rest.some((line) => line.startsWith(to))) found.push([to + own, ...rest]);
  return found;
}

interface Hunk {
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

function hunksOf(before: readonly string[], after: readonly string[]): Hunk[] {
  const hunks: Hunk[] = [];
  let open: { removed: string[]; added: string[] } | undefined;
  for (const { removed, added, value } of diffArrays([...before], [...after], { comparator: (a, b) => a.trimEnd() === b.trimEnd() })) {
    if (!removed && !added) {
      open = undefined;
      continue;
    }
    if (!open) hunks.push((open = { removed: [], added: [] }));
    (removed ? open.removed : open.added).push(...value.filter((line) => line.trim() !== ''));
  }
  return hunks;
}

/** How many lines the fragment deletes, adds and exchanges; a line exchanged for one much like it costs less. */
function costOf(before: readonly string[], after: readonly string[]): number {
  let cost = 0;
  for (const { removed, added } of hunksOf(before, after)) {
    cost += removed.length + added.length;
    for (const [index, line] of added.slice(0, removed.length).entries()) cost -= similarity(line.trim(), removed[index]?.trim() ?? '');
  }
  return cost;
}

/** Lines that a fragment lacks, and has nothing for, may have been left out without a word. @throws NoSinglePlace */
function refuseSilentDeletion(before: readonly string[], after: readonly string[]): void {
  const silent = hunksOf(before, after).find(({ removed, added }) => removed.length > MAX_DELETED * added.length);
  if (silent) throw new NoSinglePlace(`it lacks ${quoted(silent.removed[0] ?? '')} of the lines that it stands for, and does not say whether that is to be deleted`);
}

/** Whether two texts leave as many brackets of each kind open. Those in strings of one line do not count. */
export function hasSameBrackets(a: string, b: string): boolean {
  const [inA, inB] = [a, b].map((text) => text.replaceAll(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g, ''));
  const open = (text = '', [left = '', right = '']: string): number => text.split(left).length - text.split(right).length;
  return ['()', '[]', '{}'].every((pair) => open(inA, pair) === open(inB, pair));
}

const wordsIn = (line: string): number => (line.match(/[\p{L}\d_$]+/gu) ?? []).length;
const quoted = (line: string): string => JSON.stringify(line.trim().slice(0, 80));

function withoutBlankEnds(lines: readonly string[]): string[] {
  const start = lines.findIndex((line) => line.trim() !== '');
  return start < 0 ? [] : lines.slice(start, lines.findLastIndex((line) => line.trim() !== '') + 1);
}
