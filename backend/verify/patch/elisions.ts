import type { Language } from '../syntax/language.ts';
import { similarity } from './line-similarity.ts';

/*
 * Models leave out what they do not change and put a line in its place: "// ... existing code ...", "# rest of the file stays the same", "…".
 * What was left out is filled in from the file, if what surrounds it is there in one place only.
 */

/** Stands for a line of a block that leaves something out. No text of a file contains it. */
const MARK = '\uE000left out\uE000';
/** Behind the mark where Python's dots may be a body that is meant so. */
const STUB = 'dots';

export const isMark = (line: string): boolean => line.includes(MARK);

/** The comment signs of the languages that blocks are written in, with what ends the comment. */
const COMMENT = /^(?:\/\/+|#+|--+|;+|%+|\/\*+|<!--|\{\/\*|\(\*|"""|\*)\s*(.*?)\s*(?:\*+\/\}?|-->|\*\)|""")?$/;
const DOTS = /(?:\.{3,}|…)/;

const THING =
  '(?:code|file|files|class|classes|module|function|functions|functionality|method|methods|body|logic|implementation|implementations|' +
  'import|imports|content|contents|part|parts|definitions?|statements?|lines?|fields?|properties|members?|tests?|types?|handlers?|' +
  'routes?|constants?|variables?|helpers?|struct|impl|block|section|component|everything|all|it|this|that)';
const WHICH = '(?:the|this|your|my|any|all|every|both|of|and|or|other|others|existing|previous|remaining|original|current|old|same|rest|remainder|earlier|above|below|here|in|from|' + THING.slice(3);
const STATE =
  '(?:is|are|stays?|remains?|remaining|left|kept|keep|keeps|goes|go|be|must|should|continues?|here|there|unchanged|untouched|unmodified|' +
  'identical|the|same|as|was|were|before|above|it|they|omitted|elided|truncated|skipped|intact|follows?|not|no|changes?|changed|needed|for|' +
  'brevity|existing|code|in|place|alone|unaffected|preserved|to|from|exactly|snipped|snip|shown)';
/** Words that make an elision of a comment without dots. */
const TELLING = new RegExp(
  '\\b(?:unchanged|untouched|unmodified|intact|omitted|elided|truncated|snip(?:ped)?|existing code|existing \\w+ (?:here|code)|' +
    '(?:rest|remainder) of|remaining|(?:the )?rest (?:is|stays?|remains?)|same as (?:before|above)|as (?:before|it was|is)|stays? the same|' +
    'no changes?|existing (?:code|methods?|functions?|imports?|fields?|members?|tests?|implementation|logic|content))\\b',
  'i',
);
const ONLY_SUCH_WORDS = new RegExp(`^(?:(?:${WHICH}|${STATE})\\b[\\s,;:.()\\-–—]*)+$`, 'i');

/**
 * Whether a line says that something was left out. A comment of dots and words does, and one without dots whose words say nothing else.
 * Other languages than English need the dots.
 */
function saysLeftOut(line: string): boolean {
  const text = line.trim();
  if (text === '' || text.length > 200) return false;
  if (/^[[({<]?\s*(?:\.{3,}|…+)\s*[\])}>]?[,;]?$/.test(text)) return true;
  if (/^[[({<]\s*(?:\.{3,}|…).{0,100}(?:\.{3,}|…)?\s*[\])}>]$/.test(text) || /^(?:\.{3,}|…)\s*\(?[\w ,;:'-]+\)?\s*(?:\.{3,}|…)?$/.test(text))
    return !/^\.{3}\w+\s*,?$/.test(text) && (/\s/.test(text.replace(/^[[({<]?\s*(?:\.{3,}|…)\s*/, '').trim()) || text.includes('…') || text.endsWith('...'));
  const comment = COMMENT.exec(text)?.[1];
  if (comment === undefined) return false;
  const words = comment.replaceAll(/(?:\.{3,}|…)/g, ' ').replaceAll(/[[\](){}<>*_`"']/g, ' ').trim();
  if (DOTS.test(comment) && (/^\W*(?:\.{3,}|…)/.test(comment) || words === '')) return true;
  if (words === '' || words.length > 120) return false;
  if (DOTS.test(comment)) return TELLING.test(words) || ONLY_SUCH_WORDS.test(words);
  return TELLING.test(words) && ONLY_SUCH_WORDS.test(words);
}

export interface MarkedBlock {
  readonly text: string;
  /** The first line that leaves something out, as written; undefined if none does. */
  readonly first: string | undefined;
}

/**
 * Puts a comment with a mark in the place of each line that leaves something out, so that the block can be parsed. A line that the file has,
 * too, is a line of the file.
 */
export function markElisions(content: string, file: string, language: Language | undefined): MarkedBlock {
  const isPython = language === 'python';
  const sign = isPython || language === 'ruby' ? '#' : '//';
  const own = new Set(file.split('\n').map((line) => line.trim()));
  let first: string | undefined;
  const lines = content.split('\n');
  const marked = lines.map((line, index) => {
    const text = line.trim();
    if (text === '' || own.has(text)) return line;
    const indent = /^\s*/.exec(line)?.[0] ?? '';
    const isWholeBody = isPython && isBody(lines, index);
    const inline = inlineElision(line, isPython);
    if (inline) {
      first ??= inline.isStub ? undefined : text;
      return isPython ? `${inline.before}... #${MARK}${inline.isStub ? STUB : ''}` : `${inline.before}/*${MARK}*/${inline.after}`;
    }
    // `x = 1  # unchanged`
    const commented = /^(.*\S)\s+(?:\/\/|#)\s*(\S.*)$/.exec(line);
    if (commented && own.has((commented[1] ?? '').trim()) && saysLeftOut(`${sign} ${commented[2] ?? ''}`)) return commented[1] ?? '';
    const isPass = isPython && /^pass\s*#/.test(text) && saysLeftOut(text.replace(/^pass\s*/, ''));
    if (!isPass && !saysLeftOut(line)) return line;
    const isStub = isPython && text === '...' && isWholeBody;
    if (!isStub) first ??= text;
    return `${indent}${isWholeBody ? '... ' : ''}${sign}${MARK}${isStub ? STUB : ''}`;
  });
  return { text: marked.join('\n'), first };
}

/** `{ ... }`, `{ /* unchanged *\/ }`, `: ...`: the body of something that stays as it is. In Python the dots may be all there is. */
function inlineElision(line: string, isPython: boolean): { before: string; after: string; isStub: boolean } | undefined {
  const [, before = '', what = '', after = ''] =
    (isPython ? /^(\s*(?:async\s+)?(?:def|class)\b.*:\s*)(\.{3}|…|#.{1,100}|\.{3}\s*#.{1,100})()$/ : /^(.*\{\s*)(\.{3}|…|\/\*[^*]{1,100}\*\/)(\s*\}.*)$/).exec(line) ?? [];
  if (what === '' || before.trim() === '{') return undefined;
  const isDots = /^(?:\.{3}|…)$/.test(what);
  if (!isDots && !saysLeftOut(what.replace(/^\.{3}\s*/, ''))) return undefined;
  return { before, after, isStub: isPython && what === '...' };
}

/** Whether a line of Python is all that a body has. */
function isBody(lines: readonly string[], index: number): boolean {
  const indent = (line: string): number => line.length - line.trimStart().length;
  const above = lines.slice(0, index).findLast((line) => line.trim() !== '');
  const below = lines.slice(index + 1).find((line) => line.trim() !== '');
  const own = indent(lines[index] ?? '');
  return above !== undefined && /:\s*(?:#.*)?$/.test(above) && indent(above) < own && (below === undefined || indent(below) < own);
}

/** A text whose dots are the bodies of new functions after all. Undefined if it leaves something out. */
export function withStubs(text: string): string | undefined {
  const restored = text.replaceAll(`... #${MARK}${STUB}`, '...');
  return isMark(restored) ? undefined : restored;
}

/** The most comparisons of lines for one block. Each takes about a microsecond. */
const MAX_COMPARISONS = 1_000_000;

/** Readings whose costs differ by less are taken for equally likely. A line that was added or deleted costs 1. */
const MARGIN = 0.35;

/** The cost of a part whose lines the file has nearly so. */
const NEARLY = 0.5;

/** A line of fewer words, such as `try {` or `return x;`, tells too little of its place. */
const MIN_WORDS = 3;

/** More places than these for one part are no reading. */
const MAX_PLACES = 20;

export type Filled = { readonly lines: readonly string[] } | { readonly reason: string };

/**
 * Fills what a block leaves out from `target`, the lines of the region that the block stands for. Every part between two gaps is laid over the
 * region where it costs least; if another place costs about the same, there is no single reading.
 * @param anchored whether the region's first and last lines are known to be the block's (a function's), even where the block changes them
 */
export function fillElisions(block: readonly string[], target: readonly string[], { anchored }: { readonly anchored: boolean }): Filled {
  const parts = partsOf(block);
  if (block.length * target.length > MAX_COMPARISONS) return { reason: 'the file is too long to fill in what was left out' };
  const known = new Set(target.map((line) => line.trim()));
  const lines: string[] = [];
  /** The first line of the region that has no place in the result yet. */
  let from = 0;
  for (const [index, part] of parts.entries()) {
    const isFirst = index === 0;
    const isLast = index === parts.length - 1;
    if (part.every((line) => line.trim() === '')) {
      // A gap at the region's beginning or end.
      continue;
    }
    const places = placesOf(part, target, {
      from,
      startsAt: anchored && isFirst ? 0 : isFirst ? undefined : onlyPlaceOf(part[0], target, from),
      endsAt: anchored && isLast ? target.length : undefined,
    });
    const [best, ...others] = places;
    if (!best) return { reason: `${shown(part)} could stand in many places of the file` };
    // At a function's beginning and end the place is known. Elsewhere a line has to be there, or one that is nearly the same.
    const isHeld = (anchored && (isFirst || isLast || best.cost <= NEARLY)) || (part.length > 1 && best.cost <= NEARLY);
    if (!isHeld && !part.some((line) => isTelling(line) && known.has(line.trim())))
      return { reason: `nothing around ${shown(part)} is in the file as the block has it` };
    const rivals = others.filter(({ cost, start, end }) => cost - best.cost < MARGIN && !sameUpToBlankLines(target, best, { start, end }));
    if (rivals.length > 0) return { reason: `${shown(part)} could stand in more than one place of the file` };
    lines.push(...target.slice(from, best.start), ...part);
    from = best.end;
  }
  return { lines: [...lines, ...target.slice(from)] };
}

function partsOf(block: readonly string[]): string[][] {
  const parts: string[][] = [[]];
  for (const line of block) {
    if (isMark(line)) parts.push([]);
    else parts.at(-1)?.push(line);
  }
  // Blank lines beside a gap are layout of the answer. The file's own ones are filled in.
  return parts.map((part, index) => {
    const start = index === 0 ? 0 : part.findIndex((line) => line.trim() !== '');
    const end = index === parts.length - 1 ? part.length : part.findLastIndex((line) => line.trim() !== '') + 1;
    return start < 0 ? [] : part.slice(start, end);
  });
}

/** The place of a part's first line behind a gap: models begin there with a line that is in the file, to say where they are. */
function onlyPlaceOf(line: string | undefined, target: readonly string[], from: number): number | undefined {
  if (line === undefined || (line.match(/[\p{L}\d_$]+/gu) ?? []).length < MIN_WORDS) return undefined;
  const [place, ...others] = target.flatMap((other, index) => (index >= from && other.trim() === line.trim() ? [index] : []));
  return others.length === 0 ? place : undefined;
}

const shown = (part: readonly string[]): string => JSON.stringify((part.find((line) => isTelling(line)) ?? part[0] ?? '').trim().slice(0, 80));
/** A line with a word, unlike "}". */
const isTelling = (line: string): boolean => /[\p{L}\d]/u.test(line);

interface Place {
  /** The lines of the region that the part takes the place of, the end excluded. */
  readonly start: number;
  readonly end: number;
  readonly cost: number;
}

/** The places for a part, the cheapest first. A bound start or end is the only one there is. */
function placesOf(
  part: readonly string[], target: readonly string[],
  { from, startsAt, endsAt }: { readonly from: number; readonly startsAt: number | undefined; readonly endsAt: number | undefined },
): Place[] {
  const region = target.slice(from);
  const forward = aligned(part, region, startsAt !== undefined);
  const ends = endsAt === undefined ? forward.map((_, end) => end) : [region.length];
  if (startsAt !== undefined) {
    const bound = startsAt === from ? forward : aligned(part, target.slice(startsAt), true);
    return sorted(ends.map((end) => ({ start: startsAt, end: from + end, cost: bound[from + end - startsAt] ?? Infinity })));
  }
  const found: Place[] = [];
  const best = Math.min(...ends.map((end) => forward[end] ?? Infinity));
  const likely = ends.filter((end) => (forward[end] ?? Infinity) <= best + MARGIN);
  if (likely.length > MAX_PLACES) return [];
  for (const end of likely) {
    // From the end backwards, every start has its own cost.
    const backward = aligned(part.toReversed(), region.slice(0, end).toReversed(), true);
    for (const [length, cost] of backward.entries())
      if (cost <= best + MARGIN) found.push({ start: from + end - length, end: from + end, cost });
  }
  return sorted(found);
}

const sorted = (places: Place[]): Place[] => places.toSorted((a, b) => a.cost - b.cost || (a.end - a.start) - (b.end - b.start));

/** The cost of laying the whole part over the region's lines that end at each index; they begin at 0 if `isBound`, otherwise anywhere. */
function aligned(part: readonly string[], region: readonly string[], isBound: boolean): number[] {
  let row = [0];
  for (const [index, line] of region.entries()) row.push(isBound ? (row[index] ?? 0) + weight(line) : 0);
  for (const line of part) {
    const next = [(row[0] ?? 0) + weight(line)];
    for (const [index, other] of region.entries()) {
      next.push(
        Math.min(
          (row[index] ?? 0) + exchanged(line, other),
          (row[index + 1] ?? 0) + weight(line),
          (next[index] ?? 0) + weight(other),
        ),
      );
    }
    row = next;
  }
  return row;
}

/** What it costs to add or to delete a line. */
const weight = (line: string): number => (line.trim() === '' ? 0.05 : 1);

function exchanged(line: string, other: string): number {
  if (line === other) return 0;
  const [a, b] = [line.trim(), other.trim()];
  // The same line at another depth is another line where layout has a meaning.
  if (a === b) return a === '' ? 0 : 0.4;
  if (a === '' || b === '') return weight(line) + weight(other);
  return 2 * (1 - similarity(a, b));
}

function sameUpToBlankLines(target: readonly string[], a: Pick<Place, 'start' | 'end'>, b: Pick<Place, 'start' | 'end'>): boolean {
  const isBlank = (from: number, to: number): boolean => target.slice(Math.min(from, to), Math.max(from, to)).every((line) => line.trim() === '');
  return isBlank(a.start, b.start) && isBlank(a.end, b.end);
}
