import { blockAt } from './block-at.ts';
import { SCORES, wholeFile, wishFor, type Candidate } from './candidates.ts';
import { definedName, definitionMatcher, escapeForRegExp } from './definitions.ts';
import { isTestPath, stemOf } from './file-names.ts';
import { findMatches, importPattern, isImportable, type Match, type SearchRequest } from './find-matches.ts';
import { around, clamp, span, touch, type LineRange } from './line-range.ts';
import { compare } from './text-order.ts';
import type { TextFile } from './workspace.ts';

/*
 * Searches the workspace for the terms. The score of a hit is
 *
 *     weight(term) × rarity(term) × kind        rarity = 1 / (1 + log2(files with the term))
 *
 * where kind is 3 for a definition, 1.5 for a definition or file whose name contains a word of the question, and 1 for a use. So the
 * definition of a rare name from the question comes first, and uses of a common name come last. Nearby lines become one piece, in which
 * each term counts once, with its best hit. A test that imports a requested file scores as much as a use of a name from the question.
 */

const KIND = { definition: 3, name: 1.5, use: 1 } as const;
const TEST_IMPORT_SCORE = 10;
const MARGIN_LINES = 6;
const MAX_FILES_READ = 80;
const MAX_FOUND = 40;
/** Pieces with less than this share of the best score are noise. */
const LEAST_SHARE = 0.15;

interface Hit {
  readonly term: string;
  readonly weight: number;
  readonly kind: keyof typeof KIND | 'import';
  readonly line: number;
  /** Why the line is relevant, in a few words. */
  readonly reason: string;
}

export interface SearchResult {
  /** Best first. */
  readonly candidates: readonly Candidate[];
  /** Found files that may not be sent. */
  readonly refused: readonly { path: string; reason: string }[];
  /** Why the search is incomplete, for users. */
  readonly problem?: string | undefined;
}

export async function searchWorkspace(request: SearchRequest): Promise<SearchResult> {
  const { workspace } = request;
  const found = await findMatches(request);
  const hits = classify(found.matches, request);
  addNameHits(hits, request);
  const rarity = raritiesOf(hits);
  const scoreOf = (hit: Hit): number =>
    hit.kind === 'import' ? TEST_IMPORT_SCORE : hit.weight * (rarity.get(hit.term) ?? 1) * KIND[hit.kind];

  // Rank files by the sum of the best score for each term.
  const files = [...hits].map(([file, list]) => ({ file, list, worth: sumOfBest(list, scoreOf) }))
    .sort((a, b) => b.worth - a.worth || compare(a.file, b.file)).slice(0, MAX_FILES_READ);
  const candidates: Candidate[] = [];
  const refused: { path: string; reason: string }[] = [];
  for (const { file, list } of files) {
    request.signal.throwIfAborted();
    const answer = await workspace.read(file);
    if ('refusal' in answer) {
      refused.push({ path: file, reason: answer.refusal.reason });
      continue;
    }
    candidates.push(...piecesOf(answer.file, list, scoreOf));
  }
  candidates.sort((a, b) => b.score - a.score || compare(a.file.path, b.file.path) || a.focus.start - b.focus.start);
  const least = (candidates[0]?.score ?? 0) * LEAST_SHARE;
  const best = candidates.filter(({ score }) => score >= least).slice(0, MAX_FOUND);
  return { candidates: best.map((one) => ({ ...one, score: belowAsked(one.score) })), refused, problem: found.problem };
}

/** Maps 0 to infinity to 0 to `SCORES.found`, keeping the order. */
function belowAsked(score: number): number {
  return SCORES.found * (score / (score + SCORES.found));
}

/** Classifies each matching line for each term. */
function classify(matches: readonly Match[], { terms, asked }: SearchRequest): Map<string, Hit[]> {
  const hits = new Map<string, Hit[]>();
  const stems = asked.filter(isImportable).map((file) => ({ file, pattern: new RegExp(importPattern(file)) }));
  const names = terms.identifiers.map((term) => ({
    ...term,
    pattern: new RegExp(`(?<![\\w$])${escapeForRegExp(term.text)}(?![\\w$])`, 'u'),
    isDefinition: definitionMatcher(term.text),
  }));
  for (const { path: file, line, text } of matches) {
    const add = (hit: Omit<Hit, 'line'>): void => addHit(hits, file, { ...hit, line });
    for (const { text: term, weight, pattern, isDefinition } of names) {
      if (text.includes(term) && pattern.test(text)) {
        const kind = isDefinition(text, file) ? 'definition' : 'use';
        add({ term, weight, kind, reason: `${kind === 'definition' ? 'defines' : 'uses'} ${term}` });
      }
    }
    const defined = definedName(text);
    if (defined !== undefined) {
      for (const { text: word, weight } of terms.words) {
        if (defined.toLowerCase().includes(word)) add({ term: `*${word}*`, weight, kind: 'name', reason: `defines ${defined}` });
      }
    }
    if (isTestPath(file)) {
      for (const { file: module, pattern } of stems) {
        if (module === file || !pattern.test(text)) continue;
        add({ term: module, weight: 0, kind: 'import', reason: `test that imports ${module}` });
      }
    }
  }
  return hits;
}

/** Adds files whose names contain a word of the question, except the requested files. */
function addNameHits(hits: Map<string, Hit[]>, { workspace, terms: { words }, asked }: SearchRequest): void {
  if (words.length === 0) return;
  for (const file of workspace.files) {
    if (asked.includes(file)) continue;
    const name = stemOf(file).toLowerCase();
    for (const { text, weight } of words) {
      if (!name.includes(text)) continue;
      addHit(hits, file, { term: `*${text}*`, weight, kind: 'name', line: 1, reason: `its name holds "${text}"` });
    }
  }
}

function addHit(hits: Map<string, Hit[]>, file: string, hit: Hit): void {
  const list = hits.get(file);
  if (list) list.push(hit);
  else hits.set(file, [hit]);
}

function raritiesOf(hits: ReadonlyMap<string, readonly Hit[]>): Map<string, number> {
  const files = new Map<string, number>();
  for (const list of hits.values()) {
    for (const term of new Set(list.map((hit) => hit.term))) files.set(term, (files.get(term) ?? 0) + 1);
  }
  return new Map([...files].map(([term, count]) => [term, 1 / (1 + Math.log2(count))]));
}

function sumOfBest(hits: readonly Hit[], scoreOf: (hit: Hit) => number): number {
  const best = new Map<string, number>();
  for (const hit of hits) best.set(hit.term, Math.max(best.get(hit.term) ?? 0, scoreOf(hit)));
  return [...best.values()].reduce((sum, score) => sum + score, 0);
}

/** One candidate for each group of nearby hits. */
function piecesOf(file: TextFile, hits: readonly Hit[], scoreOf: (hit: Hit) => number): Candidate[] {
  const groups: { range: LineRange; hits: Hit[] }[] = [];
  for (const hit of [...hits].sort((a, b) => a.line - b.line)) {
    const range = rangeOf(file, hit);
    const last = groups.at(-1);
    if (last && touch(last.range, range)) {
      last.range = span(last.range, range);
      last.hits.push(hit);
    } else groups.push({ range, hits: [hit] });
  }
  return groups.map(({ range, hits: near }) => {
    const best = [...near].sort((a, b) => scoreOf(b) - scoreOf(a) || a.line - b.line);
    return {
      file,
      focus: range,
      wish: file.lines.length === 0 ? wholeFile(file) : wishFor(file, range),
      anchor: clamp({ start: best[0]?.line ?? 1, end: 1 }, file.lines.length).start,
      score: sumOfBest(near, scoreOf),
      reasons: reasonsFor(best),
    };
  });
}

function rangeOf(file: TextFile, { kind, line }: Hit): LineRange {
  const near = around(line, MARGIN_LINES, file.lines.length);
  if (kind !== 'definition' && kind !== 'name') return near;
  const block = blockAt(file.lines, line);
  return block.end - block.start < 2 ? near : clamp(block, file.lines.length);
}

/** Such as `defines mergeIntervals` and `uses Interval`: one for each of the best three terms. */
function reasonsFor(best: readonly Hit[]): string[] {
  const byTerm = new Map<string, string>();
  for (const { term, reason } of best) if (!byTerm.has(term)) byTerm.set(term, reason);
  return [...new Set(byTerm.values())].slice(0, 3);
}
