import type { Graph, Tensor } from '../graph/graph.ts';
import { add, equal, exponential, less, maximum, minimum, multiply, negate, subtract, where } from '../graph/ops/arithmetic.ts';
import { detach } from '../graph/ops/detach.ts';

/** What the loss knows of each token beside its log-probability: float32[places]. A weight of 0 leaves the token out of a term. */
export interface LossInputs {
  /** Under the policy that the ratio is relative to, as the trainer has it; see `onPolicy`. */
  readonly oldLogprobs: Tensor;
  /** Under the same policy as the sampler has it, which rounds otherwise. */
  readonly samplerLogprobs: Tensor;
  /** Under the model that the policy is held close to. */
  readonly referenceLogprobs: Tensor;
  readonly advantages: Tensor;
  readonly surrogateWeights: Tensor;
  readonly divergenceWeights: Tensor;
  readonly likelihoodWeights: Tensor;
  /** float32[]: the ratio is clipped to 1 − low and 1 + high. */
  readonly clipLow: Tensor;
  readonly clipHigh: Tensor;
  /** float32[]: the most that a token may count for being likelier to the trainer than to the sampler; 0 for no such correction. */
  readonly importanceLimit: Tensor;
  /** bool[]: the policy that the ratio is relative to is the one at hand: `oldLogprobs` are not looked at. */
  readonly onPolicy: Tensor;
}

/**
 * The loss of each token, float32[places]; the loss of a batch is their sum, so that whoever gives the weights says how it is averaged.
 *
 *   surrogate  · −w·min(ρ·A, clip(ρ, 1 − low, 1 + high)·A)  with ρ = exp(logprob − old): PPO's objective (arXiv 1707.06347), as in GRPO
 *                (2402.03300), and w = min(exp(old − sampler), limit), which corrects for the sampler's rounding, token by token (Yao et
 *                al., "Your efficient RL framework secretly brings you off-policy RL training", 2025)
 *   divergence · (exp(d) − d − 1)  with d = reference − logprob: the estimator k3 of the divergence from the reference
 *   likelihood · −logprob                                  imitation
 */
export function policyLoss(g: Graph, logprobs: Tensor, inputs: LossInputs): Tensor {
  const one = g.scalar('float32', 1);
  // What is left out may be anything, and infinity times 0 is no number.
  const weighed = (weights: Tensor, exponent: Tensor): Tensor =>
    where(g, equal(g, weights, g.scalar('float32', 0)), g.scalar('float32', 0), exponent);

  const old = where(g, inputs.onPolicy, detach(g, logprobs), inputs.oldLogprobs);
  const ratio = exponential(g, weighed(inputs.surrogateWeights, subtract(g, logprobs, old)));
  const clipped = minimum(g, maximum(g, ratio, subtract(g, one, inputs.clipLow)), add(g, one, inputs.clipHigh));
  const gain = minimum(g, multiply(g, ratio, inputs.advantages), multiply(g, clipped, inputs.advantages));
  const likelier = exponential(g, weighed(inputs.surrogateWeights, subtract(g, old, inputs.samplerLogprobs)));
  const isCorrected = less(g, g.scalar('float32', 0), inputs.importanceLimit);
  const importance = where(g, isCorrected, minimum(g, likelier, inputs.importanceLimit), one);
  const surrogate = negate(g, multiply(g, multiply(g, inputs.surrogateWeights, importance), gain));

  const distance = weighed(inputs.divergenceWeights, subtract(g, inputs.referenceLogprobs, logprobs));
  const divergence = subtract(g, subtract(g, exponential(g, distance), distance), one);

  const likelihood = multiply(g, inputs.likelihoodWeights, logprobs);
  return subtract(g, add(g, surrogate, multiply(g, inputs.divergenceWeights, divergence)), likelihood);
}
