import type { Graph, Tensor } from '../graph/graph.ts';
import { add, equal, exponential, less, maximum, minimum, multiply, negate, subtract, where } from '../graph/ops/arithmetic.ts';
import { detach } from '../graph/ops/detach.ts';

/** The inputs of the loss for each token, in addition to its log-probability: float32[places]. A weight of 0 removes the token from a term. */
export interface LossInputs {
  /** Under the old policy, to which the ratio is relative, computed by the trainer; see `onPolicy`. */
  readonly oldLogprobs: Tensor;
  /** Under the same policy, computed by the sampler, which rounds differently. */
  readonly samplerLogprobs: Tensor;
  /** Under the reference model, from which the KL divergence is measured. */
  readonly referenceLogprobs: Tensor;
  readonly advantages: Tensor;
  readonly surrogateWeights: Tensor;
  readonly klWeights: Tensor;
  readonly crossEntropyWeights: Tensor;
  /** float32[]: the ratio is clipped to 1 − low and 1 + high. */
  readonly clipLow: Tensor;
  readonly clipHigh: Tensor;
  /** float32[]: cap of the importance ratio between trainer and sampler (truncated importance sampling); 0 turns the correction off. */
  readonly importanceRatioCap: Tensor;
  /** bool[]: the old policy is the current one, and `oldLogprobs` is not used. */
  readonly onPolicy: Tensor;
}

/**
 * The loss of each token, float32[places]. The loss of a batch is their sum, so the weights determine how it is averaged.
 *
 *   surrogate    · −w·min(ρ·A, clip(ρ, 1 − low, 1 + high)·A)  with ρ = exp(logprob − old): PPO's objective (arXiv 1707.06347), as in GRPO
 *                (2402.03300), and w = min(exp(old − sampler), cap), which corrects for the sampler's rounding, token by token (Yao et
 *                al., "Your efficient RL framework secretly brings you off-policy RL training", 2025)
 *   kl           · (exp(d) − d − 1)  with d = reference − logprob: the estimator k3 of the KL divergence from the reference
 *   crossEntropy · −logprob
 */
export function policyLoss(g: Graph, logprobs: Tensor, inputs: LossInputs): Tensor {
  const one = g.scalar('float32', 1);
  // A token with weight 0 may have any value, and infinity times 0 is NaN.
  const weighted = (weights: Tensor, exponent: Tensor): Tensor =>
    where(g, equal(g, weights, g.scalar('float32', 0)), g.scalar('float32', 0), exponent);

  const old = where(g, inputs.onPolicy, detach(g, logprobs), inputs.oldLogprobs);
  const ratio = exponential(g, weighted(inputs.surrogateWeights, subtract(g, logprobs, old)));
  const clipped = minimum(g, maximum(g, ratio, subtract(g, one, inputs.clipLow)), add(g, one, inputs.clipHigh));
  const gain = minimum(g, multiply(g, ratio, inputs.advantages), multiply(g, clipped, inputs.advantages));
  const importanceRatio = exponential(g, weighted(inputs.surrogateWeights, subtract(g, old, inputs.samplerLogprobs)));
  const isCorrected = less(g, g.scalar('float32', 0), inputs.importanceRatioCap);
  const importance = where(g, isCorrected, minimum(g, importanceRatio, inputs.importanceRatioCap), one);
  const surrogate = negate(g, multiply(g, multiply(g, inputs.surrogateWeights, importance), gain));

  const distance = weighted(inputs.klWeights, subtract(g, inputs.referenceLogprobs, logprobs));
  const kl = subtract(g, subtract(g, exponential(g, distance), distance), one);

  const logLikelihood = multiply(g, inputs.crossEntropyWeights, logprobs);
  return subtract(g, add(g, surrogate, multiply(g, inputs.klWeights, kl)), logLikelihood);
}
