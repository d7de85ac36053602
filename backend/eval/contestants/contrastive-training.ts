import { KeyedRandom } from '../../common/keyed-random.ts';
import { seededUniforms } from '../../lm/checkpoint/seeded-uniforms.ts';
import { mean } from '../../train/statistics/statistics.ts';
import type { RoutedExample } from './nearest-neighbour-router.ts';
import { cosine, WordSpace, type WordVector } from './word-space.ts';

/*
 * RouterDC's training (arXiv 2409.19886 §3) for an encoder that is a linear map. The similarity is the cosine, and each loss is
 * -log(exp(s+) / (exp(s+) + sum of exp(s-))) over a positive and several negatives.
 */

/** Workers that a question is drawn to and pushed from at most, questions that another one is pushed from, and the groups of questions: the paper's. */
const POSITIVES = 3;
const NEGATIVES = 3;
const OTHERS = 3;
const GROUPS = 5;
/** The paper's weight of the sample-sample loss is 1, too. Dimensions, steps and rate are for a linear map; the paper's are for its encoder. */
const DIMENSIONS = 32;
const BATCH = 64;
const STEPS = 200;
const RATE = 0.02;
/** A worker with a higher score is none to be pushed from. */
const HALF_RIGHT = 0.5;

export interface TrainedRouter {
  workerFor(question: string): number;
}

type Point = Float64Array;

/** The same examples give the same router. */
export function trainContrastively(examples: readonly RoutedExample[]): TrainedRouter {
  const workers = examples[0]?.scores.length ?? 1;
  const space = new WordSpace(examples.map(({ question }) => question));
  const vectors = examples.map(({ question }) => space.vectorOf(question));
  const groups = groupsOf(vectors);
  const random = new KeyedRandom('contrastive router');
  // Thousands of draws: faster ones than those with keys.
  const uniform = seededUniforms(1);
  const anyOf = <T>(items: readonly T[]): T => items[Math.floor(uniform() * items.length)]!;
  const map = new Parameters();
  const point = (name: string): Point => map.get(name, () => Float64Array.from({ length: DIMENSIONS }, () => uniform() - 0.5));
  const encode = (vector: WordVector): Point => {
    const encoded = new Float64Array(DIMENSIONS);
    for (const [word, weight] of vector) {
      const column = map.known(`word:${word}`);
      if (column) for (let at = 0; at < DIMENSIONS; at += 1) encoded[at]! += weight * column[at]!;
    }
    return encoded;
  };
  for (const vector of vectors) for (const word of vector.keys()) point(`word:${word}`);
  const points = Array.from({ length: workers }, (_, worker) => point(`worker:${worker}`));

  for (let step = 0; step < STEPS; step += 1) {
    const order = random.shuffled(`order:${step}`, examples.map((_, index) => index)).slice(0, BATCH);
    const questions = new Map(order.map((index) => [index, sideOf(encode(vectors[index]!), new Float64Array(DIMENSIONS))]));
    const other = (index: number): Side => questions.get(index)!;
    const workerSides = points.map((one, worker) => sideOf(one, map.gradient(`worker:${worker}`)));
    const share = 1 / order.length;
    for (const index of order) {
      const own = other(index);
      const { positives, negatives } = sidesOf(examples[index]!.scores);
      const worker = (ordinal: number): Side => workerSides[ordinal]!;
      for (const positive of positives) if (negatives.length > 0) contrast(own, worker(positive), negatives.map(worker), share);
      const like = order.filter((other) => other !== index && groups[other] === groups[index]);
      const unlike = order.filter((other) => groups[other] !== groups[index]);
      if (like.length === 0 || unlike.length < OTHERS) continue;
      contrast(own, other(anyOf(like)), Array.from({ length: OTHERS }, () => other(anyOf(unlike))), share);
    }
    for (const [index, { gradient }] of questions) {
      for (const [word, weight] of vectors[index]!) {
        const column = map.gradient(`word:${word}`);
        for (let at = 0; at < DIMENSIONS; at += 1) column[at]! += weight * gradient[at]!;
      }
    }
    map.step(RATE);
  }

  const best = mostOf(points.map((_, worker) => mean(examples.map(({ scores }) => scores[worker] ?? 0))));
  return {
    workerFor: (question) => {
      const encoded = encode(space.vectorOf(question));
      // A question without any known word goes to whoever was best on the whole.
      return encoded.some((value) => value !== 0) ? mostOf(points.map((one) => dot(encoded, one) / lengthOf(one))) : best;
    },
  };
}

/** The workers that a question is drawn to, and those that it is pushed from. None is both, and where nobody was right there are neither. */
function sidesOf(scores: readonly number[]): { readonly positives: readonly number[]; readonly negatives: readonly number[] } {
  const order = scores.map((score, worker) => ({ score, worker })).toSorted((a, b) => b.score - a.score);
  const most = order[0]?.score ?? 0;
  const isGood = (score: number): boolean => score > HALF_RIGHT || (score > 0 && score === most);
  return {
    positives: order.slice(0, POSITIVES).filter(({ score }) => isGood(score)).map(({ worker }) => worker),
    negatives: most === 0 ? [] : order.slice(-NEGATIVES).filter(({ score }) => !isGood(score)).map(({ worker }) => worker),
  };
}

interface Side {
  readonly point: Point;
  readonly length: number;
  readonly gradient: Point;
}

const sideOf = (point: Point, gradient: Point): Side => ({ point, length: lengthOf(point), gradient });

/** Adds the gradient of one loss to each point's. */
function contrast(own: Side, positive: Side, negatives: readonly Side[], weight: number): void {
  const sides = [positive, ...negatives];
  const similarities = sides.map(({ point, length }) => dot(own.point, point) / (own.length * length));
  const powers = similarities.map(Math.exp);
  const all = powers.reduce((sum, power) => sum + power, 0);
  for (const [place, side] of sides.entries()) {
    const slope = weight * (powers[place]! / all - (place === 0 ? 1 : 0));
    addSlope(own, side, similarities[place]!, slope);
    addSlope(side, own, similarities[place]!, slope);
  }
}

/** The cosine's derivative by one of its two points. */
function addSlope({ point, length, gradient }: Side, other: Side, cosineOfBoth: number, slope: number): void {
  for (let at = 0; at < DIMENSIONS; at += 1) gradient[at]! += (slope * (other.point[at]! / other.length - (cosineOfBoth * point[at]!) / length)) / length;
}

function dot(one: Point, other: Point): number {
  let sum = 0;
  for (let at = 0; at < DIMENSIONS; at += 1) sum += one[at]! * other[at]!;
  return sum;
}

const lengthOf = (point: Point): number => Math.sqrt(dot(point, point)) || 1;

const mostOf = (values: readonly number[]): number => values.indexOf(Math.max(...values));

/** K-means by angle, from questions that are far from each other. */
function groupsOf(vectors: readonly WordVector[]): number[] {
  const centres: WordVector[] = [];
  for (let group = 0; group < Math.min(GROUPS, vectors.length); group += 1) {
    const nearness = vectors.map((vector) => Math.max(0, ...centres.map((centre) => cosine(vector, centre))));
    centres.push(vectors[nearness.indexOf(Math.min(...nearness))]!);
  }
  let groups: number[] = [];
  for (let round = 0; round < 20; round += 1) {
    const now = vectors.map((vector) => mostOf(centres.map((centre) => cosine(vector, centre))));
    if (now.every((group, index) => group === groups[index])) break;
    groups = now;
    for (const group of centres.keys()) {
      const members = vectors.filter((_, index) => groups[index] === group);
      if (members.length > 0) centres[group] = sumOf(members);
    }
  }
  return groups;
}

function sumOf(vectors: readonly WordVector[]): WordVector {
  const sum = new Map<string, number>();
  for (const vector of vectors) for (const [word, weight] of vector) sum.set(word, (sum.get(word) ?? 0) + weight);
  const length = Math.hypot(...sum.values()) || 1;
  return new Map([...sum].map(([word, weight]) => [word, weight / length]));
}

interface Parameter {
  readonly value: Point;
  readonly gradient: Point;
  readonly mean: Point;
  readonly variance: Point;
}

/** Named points, moved by Adam (Kingma and Ba, arXiv 1412.6980). */
class Parameters {
  readonly #all = new Map<string, Parameter>();
  #steps = 0;

  get(name: string, initial: () => Point): Point {
    const zeros = (): Point => new Float64Array(DIMENSIONS);
    if (!this.#all.has(name)) this.#all.set(name, { value: initial(), gradient: zeros(), mean: zeros(), variance: zeros() });
    return this.known(name)!;
  }

  known(name: string): Point | undefined {
    return this.#all.get(name)?.value;
  }

  gradient(name: string): Point {
    return this.#all.get(name)!.gradient;
  }

  /** Moves every point against its gradient, and forgets the gradients. */
  step(rate: number): void {
    const [b1, b2] = [0.9, 0.999];
    this.#steps += 1;
    const [early, late] = [1 - b1 ** this.#steps, 1 - b2 ** this.#steps];
    for (const { value, gradient, mean: first, variance } of this.#all.values()) {
      for (let at = 0; at < DIMENSIONS; at += 1) {
        const slope = gradient[at]!;
        first[at] = b1 * first[at]! + (1 - b1) * slope;
        variance[at] = b2 * variance[at]! + (1 - b2) * slope * slope;
        value[at]! -= (rate * (first[at]! / early)) / (Math.sqrt(variance[at]! / late) + 1e-8);
      }
      gradient.fill(0);
    }
  }
}
