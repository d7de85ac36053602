import { lossWeights } from '../../../lm/trainer/loss-weights.ts';
import type { Example, PolicyLoss } from '../engine.ts';
import type { Datum, ServerLoss } from './messages/gradient-messages.ts';

/** Log-probabilities of the tokens of each example. */
type Rows = readonly (readonly number[])[];

/** All that log-probabilities and cross-entropy need of an example. */
export type TokenExample = Pick<Example, 'promptTokens' | 'tokens'>;

export interface ServerBatch {
  readonly data: readonly Datum[];
  readonly loss: ServerLoss;
  readonly lossOptions?: Readonly<Record<string, number>> | undefined;
}

/**
 * Our loss (`policyLoss` in lm/decoder) in the terms of the server, which has a sum over tokens of −weight·r·A, with r = exp(logprob − old),
 * clipped for `ppo`. `old` are the trainer's own log-probabilities. What a token counts, w·share, becomes part of its advantage, and so does
 * the divergence: at r = 1 its gradient is that of (1 − exp(reference − old)).
 *
 * SkyRL's JAX back end divides the sum of an example by the sum of its weights (`per_seq_loss` in backends/jax.py of 0.4.0), other servers do
 * not: weights that sum to 1 give both the same. It also divides by the number of examples, which Adam does not notice.
 *
 * So gradients are ours exactly, by the two losses that every server has: without old log-probabilities in the examples every ratio is 1
 * (`importance_sampling`), with them it is clipped (`ppo`).
 */
export function serverBatch(loss: PolicyLoss, batch: readonly Example[], { old, reference }: { readonly old: Rows; readonly reference?: Rows | undefined }): ServerBatch {
  const advantages = tokensOf(loss, batch, { old, reference }).map((row) => row.map(({ share, importance, advantage, divergenceSlope }) => row.length * share * (importance * advantage - divergenceSlope)));
  const data = batch.map((example, index) => datumOf(example, {
    logprobs: old[index]!, advantages: advantages[index]!, weights: example.tokens.map(() => 1 / example.tokens.length),
  }));
  if (isOnPolicy(batch)) return { data, loss: 'importance_sampling' };
  return { data, loss: 'ppo', lossOptions: { clip_low_threshold: 1 - loss.clip.low, clip_high_threshold: 1 + loss.clip.high } };
}

/** The mean negative log-probability of all tokens; where the server averages over examples, the mean of their means. */
export function crossEntropyBatch(batch: readonly TokenExample[], weight: number): ServerBatch {
  const all = batch.reduce((sum, { tokens }) => sum + tokens.length, 0);
  return { data: batch.map((example) => datumOf(example, { weights: example.tokens.map(() => weight / all) })), loss: 'cross_entropy' };
}

/** For log-probabilities alone. */
export function forwardBatch(batch: readonly TokenExample[]): ServerBatch {
  return crossEntropyBatch(batch, 1);
}

/** The value of our loss, from the log-probabilities with which the server computed its gradients. */
export function lossValue(loss: PolicyLoss, batch: readonly Example[], { logprobs, old, reference }: { readonly logprobs: Rows; readonly old: Rows; readonly reference?: Rows | undefined }): number {
  const { clip, klCoefficient } = loss;
  return tokensOf(loss, batch, { old, reference }).flatMap((row, index) => row.map(({ share, importance, advantage }, token) => {
    const logprob = logprobs[index]![token]!;
    const ratio = isOnPolicy(batch) ? 1 : Math.exp(logprob - old[index]![token]!);
    const clipped = Math.min(Math.max(ratio, 1 - clip.low), 1 + clip.high);
    const distance = reference ? reference[index]![token]! - logprob : 0;
    return share * (klCoefficient * (Math.exp(distance) - distance - 1) - importance * Math.min(ratio * advantage, clipped * advantage));
  })).reduce((sum, value) => sum + value, 0);
}

/** The part of each example's tokens that the prompt does not have: the server's result has one number for each target. */
export function ofCompletions(batch: readonly TokenExample[], logprobs: Rows): Rows {
  return logprobs.map((row, index) => row.slice(batch[index]!.promptTokens.length - 1));
}

export const isOnPolicy = (batch: readonly Example[]): boolean => batch.every(({ oldLogprobs }) => !oldLogprobs);

interface TokenTerms {
  readonly share: number;
  /** min(exp(old − sampler), cap); 1 without a cap. */
  readonly importance: number;
  readonly advantage: number;
  readonly divergenceSlope: number;
}

function tokensOf({ type, klCoefficient, importanceRatioCap, maxCompletionLength }: PolicyLoss, batch: readonly Example[], { old, reference }: { readonly old: Rows; readonly reference?: Rows | undefined }): TokenTerms[][] {
  const size = { completions: batch.length, tokens: batch.reduce((sum, { tokens }) => sum + tokens.length, 0), maxCompletionLength };
  return batch.map(({ tokens: { length }, advantage, samplerLogprobs }, index) => {
    const { surrogateWeights = [] } = lossWeights({ tokens: length, advantage }, { type }, size);
    return surrogateWeights.map((share, token) => {
      const logprob = old[index]![token]!;
      return {
        share, advantage,
        importance: importanceRatioCap > 0 ? Math.min(Math.exp(logprob - samplerLogprobs[token]!), importanceRatioCap) : 1,
        divergenceSlope: reference ? klCoefficient * (1 - Math.exp(reference[index]![token]! - logprob)) : 0,
      };
    });
  });
}

/** Each place predicts the next token. What lies before the completion counts nothing. */
function datumOf({ promptTokens, tokens }: TokenExample, ofTokens: Readonly<Record<string, readonly number[]>>): Datum {
  const all = [...promptTokens, ...tokens];
  const before = new Array<number>(promptTokens.length - 1).fill(0);
  const inputs = Object.fromEntries(Object.entries(ofTokens).map(([name, values]) => [name, [...before, ...values]]));
  return { tokens: all.slice(0, -1), targets: all.slice(1), inputs };
}
