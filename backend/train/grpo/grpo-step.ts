import { type AdvantageOptions, groupAdvantages } from './advantages.ts';
import type { Example, PolicyLoss, SampledCompletion, ForwardBackwardOutput, TrainEngine } from '../engines/engine.ts';
import { type RewardOptions, type RolloutOutcome, rewardOf } from './reward.ts';
import { mean } from '../statistics/statistics.ts';

/** A sampled plan and its outcome. */
export interface JudgedCompletion {
  readonly completion: SampledCompletion;
  readonly outcome: RolloutOutcome;
  /** The outcome of its revision, where it was revised. */
  revised?: RolloutOutcome | undefined;
}

export interface GrpoOptions {
  readonly loss: PolicyLoss;
  readonly reward: RewardOptions;
  /** Share of the revision's reward in the reward of a revised plan; the paper's discount is 0.25 (arXiv 2512.04388 §5). */
  readonly revisionWeight: number;
  readonly advantage: AdvantageOptions;
  /** Leaves truncated completions out of the loss, as DAPO's overlong filtering does (arXiv 2503.14476). */
  readonly maskTruncated: boolean;
  /** Maximum norm of all gradients together; 1 by default in transformers. */
  readonly gradientClip: number;
}

/** Named as in TRL, where TRL has the metric. */
export type StepMetrics = Readonly<Record<string, number>>;

/**
 * One update from groups of completions, one group per question. Completions with an unknown reward are left out, and so are groups whose
 * rewards are all equal. Where nothing is left, the weights do not change and the metrics say so.
 */
export async function grpoStep(
  engine: TrainEngine, groups: readonly (readonly JudgedCompletion[])[], options: GrpoOptions,
  { learningRate, signal }: { readonly learningRate: number; readonly signal?: AbortSignal },
): Promise<StepMetrics> {
  const judged = groups.map((group) => {
    const rewards = group.map((rollout) => blendedReward(rollout, options));
    return { group, rewards, ...groupAdvantages(rewards, options.advantage) };
  });
  const examples = judged.flatMap(({ group, rewards, advantages, isFlat }) => isFlat ? [] : group.flatMap(({ completion }, index): Example[] => {
    const isLeftOut = rewards[index] === undefined || completion.tokens.length === 0 || (options.maskTruncated && completion.finishReason === 'length');
    const { promptTokens, tokens, logprobs } = completion;
    return isLeftOut ? [] : [{ promptTokens, tokens, samplerLogprobs: logprobs, advantage: advantages[index] as number }];
  }));
  const metrics = {
    ...rolloutMetrics(groups.flat()),
    reward: mean(judged.flatMap(({ rewards }) => rewards.filter((reward) => reward !== undefined))),
    reward_std: mean(judged.map(({ deviation }) => deviation)),
    frac_reward_zero_std: mean(judged.map(({ isFlat }) => Number(isFlat))),
    learning_rate: learningRate,
  };
  if (examples.length === 0) return { ...metrics, loss: 0, grad_norm: 0, examples: 0 };
  const batch = await engine.forwardBackward(options.loss, examples, signal);
  const { gradientNorm } = await engine.optimStep({ learningRate, gradientClip: options.gradientClip });
  return { ...metrics, ...batchMetrics(batch, examples, options.loss), loss: batch.loss, grad_norm: gradientNorm, examples: examples.length };
}

function blendedReward({ outcome, revised }: JudgedCompletion, { reward: options, revisionWeight }: GrpoOptions): number | undefined {
  const own = rewardOf(outcome, options);
  const later = revised && rewardOf(revised, options);
  return own === undefined || later === undefined ? own : (1 - revisionWeight) * own + revisionWeight * later;
}

function rolloutMetrics(rollouts: readonly JudgedCompletion[]): StepMetrics {
  const lengths = rollouts.map(({ completion }) => completion.tokens.length);
  const share = (test: (rollout: JudgedCompletion) => boolean): number => mean(rollouts.map((rollout) => Number(test(rollout))));
  return {
    'completions/mean_length': mean(lengths),
    'completions/min_length': Math.min(...lengths),
    'completions/max_length': Math.max(...lengths),
    'completions/clipped_ratio': share(({ completion }) => completion.finishReason === 'length'),
    format_rate: share(({ outcome }) => outcome.kind !== 'unparseable'),
    verified_rate: share(({ outcome }) => outcome.kind === 'judged' && outcome.verified),
    cost_usd: rollouts.reduce((sum, { outcome }) => sum + (outcome.kind === 'judged' ? outcome.costUsd : 0), 0),
    errored_rollouts: rollouts.filter(({ outcome }) => outcome.kind === 'infrastructure').length,
  };
}

function batchMetrics({ logprobs, entropies, referenceLogprobs }: ForwardBackwardOutput, examples: readonly Example[], { importanceRatioCap }: PolicyLoss): StepMetrics {
  const differences = logprobs.flatMap((row, index) => row.map((logprob, token) => logprob - (examples[index]!.samplerLogprobs[token] as number)));
  const ratios = differences.map((difference) => Math.exp(difference)).map((ratio) => (importanceRatioCap > 0 ? Math.min(ratio, importanceRatioCap) : ratio));
  const distances = referenceLogprobs?.flatMap((row, index) => row.map((reference, token) => reference - (logprobs[index]![token] as number)));
  return {
    entropy: mean(entropies.flat()),
    'sampling/sampling_logp_difference/mean': mean(differences.map(Math.abs)),
    'sampling/sampling_logp_difference/max': most(differences.map(Math.abs)),
    'sampling/importance_sampling_ratio/min': -most(ratios.map((ratio) => -ratio)),
    'sampling/importance_sampling_ratio/mean': mean(ratios),
    'sampling/importance_sampling_ratio/max': most(ratios),
    ...(distances && { kl: mean(distances.map((distance) => Math.exp(distance) - distance - 1)) }),
  };
}

const most = (values: readonly number[]): number => values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
