import type { EvaluationService } from '../../../backend/server/handlers/evaluation-handlers.ts';

const none = (): never => {
  throw new Error('Nobody evaluates here.');
};

/** A backend that evaluates nothing. */
export const NO_EVALUATIONS: EvaluationService = {
  estimate: none, start: none, resume: none, stop: none, list: () => Promise.resolve([]), get: none, samples: none, sample: none, remove: none, listen: () => () => {}, listenForRemovals: () => () => {}, active: 0,
};
