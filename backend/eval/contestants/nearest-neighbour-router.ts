import { FUNCTION_SHAPES } from '../plans.ts';
import { byPlan, BASELINES, type Contestant } from '../contestant.ts';
import { cosine, WordSpace } from './word-space.ts';

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
