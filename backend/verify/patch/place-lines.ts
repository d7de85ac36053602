import { indentOf, indentUnit, widthOf } from './indentation.ts';

/** Where a sequence of lines stands in a text. */
export interface FoundLines {
  readonly start: number;
  /** Gives a new line the indentation that it has in the text. */
  readonly indented: (line: string) => string;
}

export type Finding = FoundLines | 'absent' | 'ambiguous';

const same = (line: string): string => line;

/**
 * Finds lines in a text: exactly so, then without regard to spaces at line ends, then at another indentation or with tabs for spaces. The first
 * way that finds them decides; if it finds them in two places, there is no single reading.
 */
export function findLines(needle: readonly string[], text: readonly string[], from: number, { layoutMatters }: { readonly layoutMatters: boolean }): Finding {
  if (needle.length === 0) return 'absent';
  const exact = starts(needle, text, from, (a, b) => a === b);
  if (exact.length > 0) return one(exact, () => same);
  const trimmed = starts(needle, text, from, (a, b) => a.trimEnd() === b.trimEnd());
  if (trimmed.length > 0) return one(trimmed, () => same);
  const shifted = starts(needle, text, from, (a, b) => a.trim() === b.trim()).flatMap((start) => {
    const theirs = text.slice(start, start + needle.length);
    const pairs = pairsOf(needle, theirs);
    if (pairs) return [{ start, indented: indenter(pairs, { from: indentUnit(needle), to: indentUnit(text) }) }];
    // Without indentation, or with one that nests otherwise, the lines say nothing of their depth. Where layout has no meaning, that does not matter.
    return !layoutMatters ? [{ start, indented: flatIndenter(theirs, indentUnit(text)) }] : [];
  });
  return one(
    shifted.map(({ start }) => start),
    (start) => shifted.find((place) => place.start === start)?.indented ?? same,
  );
}

/** Why lines are not found, in words: the first one that the text lacks, or that they stand apart. */
export function whyAbsent(needle: readonly string[], text: readonly string[]): string {
  const known = new Set(text.map((line) => line.trim()));
  const telling = needle.filter((line) => /[\p{L}\d]/u.test(line));
  const lacking = telling.find((line) => !known.has(line.trim()));
  const quoted = JSON.stringify((lacking ?? telling[0] ?? needle[0] ?? '').trim().slice(0, 80));
  return lacking === undefined ? `${quoted} and the lines below it do not stand together there` : `it has no line ${quoted}`;
}

function one(found: readonly number[], indentedAt: (start: number) => FoundLines['indented']): Finding {
  const [start, ...others] = found;
  if (start === undefined) return 'absent';
  return others.length > 0 ? 'ambiguous' : { start, indented: indentedAt(start) };
}

/** All places, at most two: more change nothing. */
export function starts(
  needle: readonly string[], text: readonly string[], from: number, equal: (a: string, b: string) => boolean,
): number[] {
  const found: number[] = [];
  for (let start = from; start + needle.length <= text.length && found.length < 2; start += 1) {
    if (needle.every((line, index) => equal(line, text[start + index] ?? ''))) found.push(start);
  }
  return found;
}

/** Which indentation of the text stands for each of the lines'. Undefined if one stands for two: then the nesting differs. */
function pairsOf(needle: readonly string[], text: readonly string[]): ReadonlyMap<string, string> | undefined {
  const pairs = new Map<string, string>();
  for (const [index, line] of needle.entries()) {
    if (line.trim() === '') continue;
    const [own, theirs] = [indentOf(line), indentOf(text[index] ?? '')];
    const known = pairs.get(own);
    if (known !== undefined && known !== theirs) return undefined;
    pairs.set(own, theirs);
  }
  return pairs;
}

function indenter(pairs: ReadonlyMap<string, string>, units: { readonly from: string; readonly to: string }): FoundLines['indented'] {
  const known = [...pairs].map(([own, theirs]) => ({ width: widthOf(own, units.from), theirs })).sort((a, b) => a.width - b.width);
  const step = units.from === '\t' ? 4 : units.from.length;
  return (line) => {
    if (line.trim() === '') return line.trim();
    const own = indentOf(line);
    const exact = pairs.get(own);
    if (exact !== undefined) return exact + line.trimStart();
    const width = widthOf(own, units.from);
    const below = known.findLast((pair) => pair.width < width);
    if (below) {
      const more = width - below.width;
      return below.theirs + units.to.repeat(Math.floor(more / step)) + ' '.repeat(more % step) + line.trimStart();
    }
    const lowest = known[0];
    const less = lowest ? Math.round((lowest.width - width) / step) : 0;
    const theirs = lowest?.theirs ?? '';
    return theirs.slice(0, Math.max(0, theirs.length - less * units.to.length)) + line.trimStart();
  };
}

/** Gives lines without indentation the depth that their brackets make. */
function flatIndenter(theirs: readonly string[], unit: string): FoundLines['indented'] {
  const known = new Map(theirs.map((line) => [line.trim(), indentOf(line)]));
  let indent = indentOf(theirs[0] ?? '');
  return (line) => {
    const text = line.trim();
    if (text === '') return '';
    if (/^[)\]}]/.test(text) && indent.endsWith(unit)) indent = indent.slice(0, indent.length - unit.length);
    const own = known.get(text) ?? indent;
    indent = /[([{]$/.test(text) ? own + unit : own;
    return own + text;
  };
}
