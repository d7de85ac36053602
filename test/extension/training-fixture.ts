import { trainingConfigSchema, type Training } from '../../backend/protocol/training.ts';

/** A training of the folder `/app` that is under way. */
export function training(trainingId: string, change: Partial<Training> = {}): Training {
  return {
    trainingId, seq: 0, workspace: '/app', conductor: 'tiny', model: 'tiny', config: trainingConfigSchema.parse({}), state: 'training', message: 'Training.',
    startedAt: 1, updatedAt: 1, tasks: { train: 4, heldOut: 2 }, step: 0, metrics: [], spentUsd: 0, spentTokens: 0, unpricedTokens: 0, adopted: false, simulated: false,
    ...change,
  };
}
