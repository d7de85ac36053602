import { FUNCTION_SHAPES } from '../plans.ts';
import { byPlan, BASELINES, type Contestant } from '../contestant.ts';

/** The scores of each single worker on a training task. */
export interface RoutedExample {
  readonly question: string;
  /** Score by ordinal. */
  readonly scores: readonly number[];
}

/** The number of nearest neighbours. */
const NEIGHBOURS = 10;

/**
 * Routes a question to the worker with the best scores on the most similar training questions, by cosine similarity of TF-IDF vectors.
 */
export function nearestNeighbourRouter(examples: readonly RoutedExample[], shapes = FUNCTION_SHAPES): Contestant {
  const space = new WordSpace(examples.map(({ question }) => question));
  const vectors = examples.map(({ question, scores }) => ({ vector: space.vectorOf(question), scores }));
  return byPlan(BASELINES.router, ({ question }) => {
    const vector = space.vectorOf(question);
    const nearest = vectors
      .map((example) => ({ scores: example.scores, nearness: cosine(vector, example.vector) }))
      .sort((a, b) => b.nearness - a.nearness)
      .slice(0, NEIGHBOURS);
    const totals = (nearest[0]?.scores ?? [0]).map((_, worker) =>
      nearest.reduce((sum, { scores }) => sum + (scores[worker] ?? 0), 0));
    return shapes.alone(totals.indexOf(Math.max(...totals)));
  });
}

type Vector = ReadonlyMap<string, number>;

class WordSpace {
  readonly #questions: number;
  readonly #uses = new Map<string, number>();

  constructor(questions: readonly string[]) {
    this.#questions = questions.length;
    for (const question of questions) for (const word of new Set(wordsOf(question))) this.#uses.set(word,
      (this.#uses.get(word) ?? 0) + 1);
  }

  /** Normalised to length 1. */
  vectorOf(question: string): Vector {
    const counts = new Map<string, number>();
    for (const word of wordsOf(question)) counts.set(word, (counts.get(word) ?? 0) + 1);
    const weights = [...counts].map(([word, count]): [string, number] => [word,
      count * Math.log((1 + this.#questions) / (1 + (this.#uses.get(word) ?? 0)))]);
    const length = Math.hypot(...weights.map(([, weight]) => weight)) || 1;
    return new Map(weights.map(([word, weight]) => [word, weight / length]));
  }
}

function cosine(one: Vector, other: Vector): number {
  return [...one].reduce((sum, [word, weight]) => sum + weight * (other.get(word) ?? 0), 0);
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[a-z]+/g) ?? [];
}
