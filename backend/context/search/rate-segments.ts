import type { TextFile } from '../workspace.ts';
import type { Worth } from './rank-files.ts';
import { segmentsOf, type Segment } from './segments.ts';
import type { Vocabulary } from './vocabulary.ts';
import { IDENTIFIER, wordsOf } from './words.ts';

const K1 = 1.2;
const B = 0.5;
/** A word in the name of a definition counts as so many in the text. */
const IN_NAME = 1.2;
/** Of the score of the better neighbour: what is changed often lies beside what is named. */
const NEIGHBOUR = 0.35;
const SHARPNESS = 2;
/** Every part of a file may be meant, whatever it says. */
const LEAST = 0.08;
const MAX_REASON_WORDS = 3;

export interface RatedSegment {
  readonly segment: Segment;
  /** The chance that it is needed, if the file is: they sum up to 1. */
  readonly share: number;
  readonly reasons: readonly string[];
}

interface Counted {
  readonly segment: Segment;
  readonly counts: ReadonlyMap<number, number>;
  readonly length: number;
  readonly names: ReadonlySet<number>;
}

/** Cuts a file into segments, in their order, and rates them by BM25. */
export function rateSegments(file: TextFile, worth: ReadonlyMap<number, Worth>, vocabulary: Vocabulary): RatedSegment[] {
  const counted = segmentsOf(file.path, file.lines).map((segment) => count(file, segment, { worth, vocabulary }));
  const average = Math.max(1, counted.reduce((sum, { length }) => sum + length, 0) / Math.max(1, counted.length));
  const own = counted.map(({ counts, length, names }) => {
    let score = 0;
    for (const [number, { value }] of worth) {
      const frequency = (counts.get(number) ?? 0) / (1 - B + B * length / average) + (names.has(number) ? IN_NAME : 0);
      if (frequency > 0) score += value * frequency / (K1 + frequency);
    }
    return score;
  });
  const near = own.map((score, at) => score + NEIGHBOUR * Math.max(own[at - 1] ?? 0, own[at + 1] ?? 0));
  const most = near.reduce((a, b) => Math.max(a, b), 1e-9);
  const likelihoods = near.map((score) => (score / most) ** SHARPNESS + LEAST);
  const total = likelihoods.reduce((sum, one) => sum + one, 0);
  return counted.map((one, at) => ({ segment: one.segment, share: (likelihoods[at] ?? 0) / total, reasons: reasonsFor(one, worth, vocabulary) }));
}

function count(
  file: TextFile, segment: Segment, { worth, vocabulary }: { worth: ReadonlyMap<number, Worth>; vocabulary: Vocabulary },
): Counted {
  const counts = new Map<number, number>();
  let length = 0;
  for (const identifier of file.lines.slice(segment.start - 1, segment.end).join('\n').match(IDENTIFIER) ?? []) {
    for (const number of vocabulary.numbersOf(identifier)) {
      length += 1;
      if (worth.has(number)) counts.set(number, (counts.get(number) ?? 0) + 1);
    }
  }
  const names = [...segment.owners, ...segment.inside].flatMap(({ name }) => wordsOf(name)).map((word) => vocabulary.find(word) ?? -1);
  return { segment, counts, length, names: new Set(names) };
}

/** Such as `defines mergeIntervals`, or the words that say most. */
function reasonsFor({ segment, counts }: Counted, worth: ReadonlyMap<number, Worth>, vocabulary: Vocabulary): string[] {
  const defined = segment.inside.filter(({ name }) => worth.has(vocabulary.find(wordsOf(name)[0] ?? '') ?? -1)).map(({ name }) => `defines ${name}`);
  if (defined.length > 0) return [...new Set(defined)].slice(0, 2);
  const words = [...counts.keys()].map((number) => worth.get(number)).filter((one) => one !== undefined)
    .sort((a, b) => b.value - a.value).slice(0, MAX_REASON_WORDS).map(({ as }) => as);
  return [words.length > 0 ? `has ${[...new Set(words)].join(', ')}` : 'beside what was found'];
}
