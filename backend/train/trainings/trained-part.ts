import type { TrainingConfig } from '../../protocol/training.ts';
import type { TrainingCast } from './training-cast.ts';
import { TrainingRefusedError } from './training-error.ts';
import type { TrainingRunParts } from './training-parts.ts';

/** The rate of a training of all weights, at which an adapter learns next to nothing; an adapter needs about ten times as much. */
const LOW_RATE = 2e-6;

export interface TrainedPart {
  readonly train: 'adapter' | 'weights';
  /** What a person is told of it before the training begins; one sentence each. */
  readonly terms: readonly string[];
}

/** What a training trains. @throws TrainingRefusedError where all weights are asked for and cannot be trained */
export async function trainedPart(config: TrainingConfig, cast: Pick<TrainingCast, 'conductor' | 'isServed'>, parts: Pick<TrainingRunParts, 'weightsTraining'>): Promise<TrainedPart> {
  if (config.train === 'adapter') return { train: 'adapter', terms: [] };
  const { problem, needs } = await whetherAllWeights(config, cast, parts);
  if (problem === undefined) return { train: 'weights', terms: [`All weights of "${cast.conductor.id}" are trained, on the processor. That takes ${needs}; the trained model stays on the disk until the training is removed.`] };
  if (config.train === 'weights') throw new TrainingRefusedError(`All weights cannot be trained: ${problem}. Set "train" to "adapter", or change that.`);
  const isLow = (config.learningRate.peak ?? 1) <= LOW_RATE;
  return { train: 'adapter', terms: [
    `An adapter is trained instead of all weights: ${problem}.`,
    ...(isLow ? [`At a rate of ${config.learningRate.peak} an adapter learns next to nothing: set "learningRate.peak" to ten times as much.`] : []),
  ] };
}

/** Why not, as a part of a sentence; or what it takes. */
async function whetherAllWeights(
  config: TrainingConfig, { conductor, isServed }: Pick<TrainingCast, 'conductor' | 'isServed'>, { weightsTraining }: Pick<TrainingRunParts, 'weightsTraining'>,
): Promise<{ readonly problem?: string | undefined; readonly needs?: string }> {
  if (config.engine !== 'local') return { problem: 'a training server with Tinker\'s API trains adapters alone' };
  if (isServed) return { problem: 'the Conductor plans at a server, which takes adapters alone' };
  if (conductor.adapter !== undefined) return { problem: 'the Conductor plans with an adapter, and weights are trained without one (conductor train back takes it away)' };
  return await weightsTraining(conductor);
}
