import type { TrainingService } from '../../../backend/server/handlers/training-handlers.ts';

const none = (): never => {
  throw new Error('Nobody trains here.');
};

/** A backend that trains nothing. */
export const NO_TRAININGS: TrainingService = {
  check: none, start: none, checkOutcomes: none, learn: none, list: () => [], get: none, tasks: none, rollout: none, pause: none, resume: none, finish: none, cancel: none, adopt: none, goBack: none, remove: none,
  listen: () => () => {}, listenForRemovals: () => () => {}, active: 0,
  opened: Promise.resolve(),
};
