import { readFileSync } from 'node:fs';
import path from 'node:path';
import { unitsIn, unitsOf } from '../../../backend/context/tokens.ts';

/* The peer: plain BM25 over whole files, as Robertson and Zaragoza, The Probabilistic Relevance Framework (2009), with their usual constants. */

const K1 = 1.2;
const B = 0.75;
const MAX_BYTES = 1024 * 1024;

export interface Shown {
  readonly path: string;
  readonly startLine: number;
  readonly endLine: number;
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];

/** The best files, whole, until the budget is used up; of the last one as many lines as fit. */
export function bm25(root: string, files: readonly string[], { question, tokens }: { question: string; tokens: number }): Shown[] {
  const terms = new Set(wordsOf(question));
  const documents: { path: string; lines: string[]; length: number; counts: Map<string, number> }[] = [];
  const frequency = new Map<string, number>();
  for (const file of files) {
    const bytes = readFileSync(path.join(root, file));
    if (bytes.length > MAX_BYTES || bytes.includes(0)) continue;
    const words = wordsOf(bytes.toString('utf8'));
    const counts = new Map<string, number>();
    for (const word of words) if (terms.has(word)) counts.set(word, (counts.get(word) ?? 0) + 1);
    for (const word of counts.keys()) frequency.set(word, (frequency.get(word) ?? 0) + 1);
    documents.push({ path: file, lines: bytes.toString('utf8').split('\n'), length: words.length, counts });
  }
  const average = documents.reduce((sum, { length }) => sum + length, 0) / documents.length;
  const ranked = documents.map((document) => {
    let score = 0;
    for (const [word, count] of document.counts) {
      const holding = frequency.get(word) ?? 0;
      const rarity = Math.log(1 + (documents.length - holding + 0.5) / (holding + 0.5));
      score += rarity * (count * (K1 + 1)) / (count + K1 * (1 - B + B * document.length / average));
    }
    return { ...document, score };
  }).filter(({ score }) => score > 0).sort((a, b) => b.score - a.score);
  const shown: Shown[] = [];
  let left = unitsIn(tokens);
  for (const { path: file, lines } of ranked) {
    let endLine = 0;
    for (const line of lines) {
      left -= unitsOf(`${line}\n`);
      if (left < 0) break;
      endLine += 1;
    }
    if (endLine > 0) shown.push({ path: file, startLine: 1, endLine });
    if (left < 0) break;
  }
  return shown;
}
