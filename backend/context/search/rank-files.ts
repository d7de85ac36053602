import type { IndexedFile } from '../symbols/indexed-file.ts';
import type { SymbolIndex } from '../symbols/symbol-index.ts';
import { compare } from '../text-order.ts';
import { kindOf, type PathKind } from './path-kind.ts';
import type { AskedWords } from './asked-words.ts';

/*
 * BM25F: a word counts in three fields of a file, its text, the names that it defines and its path, each normalised by its length (Robertson
 * and Zaragoza, The Probabilistic Relevance Framework, 2009). The constants come from test/bench/context.
 */

const K1 = 1.2;
const TEXT = { weight: 1, b: 0.6 } as const;
const NAMES = { weight: 2.5, b: 0.4 } as const;
const PATH = { weight: 4, b: 0.2 } as const;
/** The weight of a name's rarity among definitions: a name that is used everywhere may be defined in one file only. */
const DEFINED = 0.3;
/** The bonus of a file that imports a file that was asked for, or is imported by one, as a share of the best score. */
const NEAR_SHARE = 0.4;

const KIND_WEIGHT: Readonly<Record<PathKind, number>> = {
  source: 1, test: 0.35, example: 0.15, document: 0.25, configuration: 0.3, generated: 0.2,
};

export interface RankedFile {
  readonly file: IndexedFile;
  readonly score: number;
}

/** How much a word says, weight times rarity, and how it was written. */
export interface Worth {
  readonly value: number;
  readonly as: string;
}

export interface Ranking {
  /** Best first; files without any of the words are left out. */
  readonly files: readonly RankedFile[];
  /** The words that the workspace has. */
  readonly asked: readonly Worth[];
  /** The place in `asked` for each number of the vocabulary, -1 for words that were not asked for. */
  readonly slots: Int32Array;
}

/** @param near files that belong to what was asked for, whatever words they have */
export function rankFiles(index: SymbolIndex, words: AskedWords, near: ReadonlySet<string>): Ranking {
  const slots = new Int32Array(index.vocabulary.size).fill(-1);
  const asked: { weight: number; as: string }[] = [];
  for (const [word, { weight, as }] of words) {
    const number = index.vocabulary.find(word);
    if (number === undefined) continue;
    slots[number] = asked.length;
    asked.push({ weight, as });
  }
  const size = asked.length;
  const hits: { file: IndexedFile; text: Float32Array; names: Float32Array; path: Float32Array }[] = [];
  const holding = new Float64Array(size);
  const defining = new Float64Array(size);
  const totals = { files: 0, length: 0, names: 0, path: 0 };
  for (const file of index.files) {
    totals.files += 1;
    totals.length += file.length;
    totals.names += file.nameWords.length;
    totals.path += file.pathWords.length;
    let hit: (typeof hits)[number] | undefined;
    const at = (): (typeof hits)[number] =>
      (hit ??= { file, text: new Float32Array(size), names: new Float32Array(size), path: new Float32Array(size) });
    const { words: numbers, counts, nameWords, pathWords } = file;
    for (let position = 0; position < numbers.length; position += 1) {
      const slot = slots[numbers[position] ?? 0] ?? -1;
      if (slot >= 0) at().text[slot] = counts[position] ?? 0;
    }
    for (const number of nameWords) if ((slots[number] ?? -1) >= 0) at().names[slots[number] ?? 0] = 1;
    for (const number of pathWords) if ((slots[number] ?? -1) >= 0) at().path[slots[number] ?? 0] = 1;
    if (near.has(file.path)) at();
    if (!hit) continue;
    hits.push(hit);
    for (let slot = 0; slot < size; slot += 1) {
      if ((hit.text[slot] ?? 0) + (hit.names[slot] ?? 0) + (hit.path[slot] ?? 0) > 0) holding[slot] = (holding[slot] ?? 0) + 1;
      if ((hit.names[slot] ?? 0) > 0) defining[slot] = (defining[slot] ?? 0) + 1;
    }
  }
  const worthIf = (weight: number, held: number): number => weight * Math.log(1 + (totals.files - held + 0.5) / (held + 0.5));
  const worth = asked.map(({ weight }, slot) => worthIf(weight, holding[slot] ?? 0));
  const worthDefined = asked.map(({ weight }, slot) => (weight > 1 ? DEFINED * worthIf(weight, defining[slot] ?? 0) : 0));
  const norm = (b: number, length: number, total: number): number => 1 - b + b * length / Math.max(1, total / totals.files);
  const files = hits.map(({ file, text, names, path }) => {
    const textNorm = norm(TEXT.b, file.length, totals.length);
    const namesNorm = norm(NAMES.b, file.nameWords.length, totals.names);
    const pathNorm = norm(PATH.b, file.pathWords.length, totals.path);
    let score = 0;
    for (let slot = 0; slot < size; slot += 1) {
      const frequency = TEXT.weight * (text[slot] ?? 0) / textNorm + NAMES.weight * (names[slot] ?? 0) / namesNorm
        + PATH.weight * (path[slot] ?? 0) / pathNorm;
      score += (worthDefined[slot] ?? 0) * (names[slot] ?? 0);
      if (frequency > 0) score += (worth[slot] ?? 0) * frequency / (K1 + frequency);
    }
    return { file, score: score * KIND_WEIGHT[kindOf(file.path)] };
  });
  const best = files.reduce((most, { score }) => Math.max(most, score), 0) || 1;
  for (const one of files) if (near.has(one.file.path)) one.score += NEAR_SHARE * best;
  files.sort((a, b) => b.score - a.score || compare(a.file.path, b.file.path));
  return { files, asked: asked.map(({ as }, slot) => ({ value: worth[slot] ?? 0, as })), slots };
}
