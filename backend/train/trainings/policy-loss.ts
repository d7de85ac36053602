import type { TrainingConfig } from '../../protocol/training.ts';
import type { PolicyLoss } from '../engines/engine.ts';

/** The loss that a training's settings ask for. */
export function policyLossOf({ loss, temperature, maxTokens }: Pick<TrainingConfig, 'loss' | 'temperature' | 'maxTokens'>): PolicyLoss {
  const { type, clip, divergence, importanceLimit } = loss;
  return { type, clip, klCoefficient: divergence, importanceRatioCap: importanceLimit, temperature, maxCompletionLength: maxTokens };
}
