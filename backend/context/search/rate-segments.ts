import { foundWords } from '../brief-reason.ts';
import type { Definition } from '../symbols/definition.ts';
import type { TextFile } from '../workspace.ts';
import type { Ranking } from './rank-files.ts';
import { segmentsOf, type Segment } from './segments.ts';
import type { Vocabulary } from './vocabulary.ts';
import { IDENTIFIER } from './words.ts';

const K1 = 1.2;
const B = 0.5;
/** A word in the name of a definition counts as so many in the text. */
const IN_NAME = 1.2;
/** Of the score of the better neighbour: what is changed often lies beside what is named. */
const NEIGHBOUR = 0.35;
const SHARPNESS = 2;
/** Every part of a file may be meant, whatever it says. */
const LEAST = 0.08;

export interface RatedSegment {
  readonly segment: Segment;
  /** The chance that it is needed, if the file is: they sum up to 1. */
  readonly share: number;
  readonly reasons: readonly string[];
}

interface Counted {
  readonly segment: Segment;
  /** How often it has each of the words that were asked for. */
  readonly counts: Float32Array;
  /** How many words it has. */
  readonly length: number;
  /** Which of the words are in the names of its definitions. */
  readonly named: Uint8Array;
}

export interface RatingRequest extends Pick<Ranking, 'asked' | 'slots'> {
  readonly file: TextFile;
  /** Those of the file, by line. */
  readonly definitions: readonly Definition[];
  readonly vocabulary: Vocabulary;
}

/** Cuts a file into segments, in their order, and rates them by BM25. */
export function rateSegments(request: RatingRequest): RatedSegment[] {
  const { file, definitions, asked } = request;
  const counted = segmentsOf(file.lines, definitions).map((segment) => count(segment, request));
  const average = Math.max(1, counted.reduce((sum, { length }) => sum + length, 0) / Math.max(1, counted.length));
  const own = counted.map(({ counts, length, named }) => {
    let score = 0;
    for (const [slot, { value }] of asked.entries()) {
      const frequency = (counts[slot] ?? 0) / (1 - B + B * length / average) + IN_NAME * (named[slot] ?? 0);
      if (frequency > 0) score += value * frequency / (K1 + frequency);
    }
    return score;
  });
  const near = own.map((score, at) => score + NEIGHBOUR * Math.max(own[at - 1] ?? 0, own[at + 1] ?? 0));
  const most = near.reduce((a, b) => Math.max(a, b), 1e-9);
  const likelihoods = near.map((score) => (score / most) ** SHARPNESS + LEAST);
  const total = likelihoods.reduce((sum, one) => sum + one, 0);
  return counted.map((one, at) => ({ segment: one.segment, share: (likelihoods[at] ?? 0) / total, reasons: reasonsFor(one, request) }));
}

function count(segment: Segment, { file, asked, slots, vocabulary }: RatingRequest): Counted {
  const counts = new Float32Array(asked.length);
  let length = 0;
  for (const identifier of file.lines.slice(segment.start - 1, segment.end).join('\n').match(IDENTIFIER) ?? []) {
    for (const number of vocabulary.numbersOf(identifier)) {
      length += 1;
      const slot = slots[number] ?? -1;
      if (slot >= 0) counts[slot] = (counts[slot] ?? 0) + 1;
    }
  }
  const named = new Uint8Array(asked.length);
  for (const { name } of [...segment.owners, ...segment.inside]) {
    for (const number of vocabulary.numbersOf(name)) if ((slots[number] ?? -1) >= 0) named[slots[number] ?? 0] = 1;
  }
  return { segment, counts, length, named };
}

/** Such as `defines mergeIntervals`, or the words that say most. */
function reasonsFor({ segment, counts }: Counted, { asked, slots, vocabulary }: RatingRequest): string[] {
  const defined = segment.inside.filter(({ name }) => (slots[vocabulary.numbersOf(name)[0] ?? -1] ?? -1) >= 0).map(({ name }) => `defines ${name}`);
  if (defined.length > 0) return [...new Set(defined)].slice(0, 2);
  const words = asked.filter((_, slot) => (counts[slot] ?? 0) > 0)
    .sort((a, b) => b.value - a.value).map(({ as }) => as);
  return [foundWords(words)];
}
