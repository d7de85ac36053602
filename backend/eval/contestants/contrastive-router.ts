import { BASELINES, byPlan, type Contestant } from '../contestant.ts';
import { FUNCTION_SHAPES } from '../plans.ts';
import { trainContrastively } from './contrastive-training.ts';
import type { RoutedExample } from './nearest-neighbour-router.ts';

/**
 * A trained router after RouterDC (Chen et al., "RouterDC: Query-Based Router by Dual Contrastive Learning for Assembling Large Language
 * Models", arXiv 2409.19886). Questions and workers are points in one space; a question goes to the worker whose point is nearest by angle.
 * Training draws a question towards the workers that answered it best and away from those that failed (sample-LLM loss), and towards questions
 * like it and away from others (sample-sample loss).
 *
 * What differs: the encoder. RouterDC tunes mDeBERTa, a model of 86 million weights; here it is a linear map of the question's words (TF-IDF),
 * which a few hundred tasks of practice can train in seconds, and which knows nothing of words that practice did not have. Similar questions
 * are found by k-means on these words, without the t-SNE before it.
 */
export function contrastiveRouter(examples: readonly RoutedExample[], shapes = FUNCTION_SHAPES): Contestant {
  const router = trainContrastively(examples);
  return byPlan(BASELINES.trainedRouter, ({ question }) => shapes.alone(router.workerFor(question)));
}
