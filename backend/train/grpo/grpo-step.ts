import { FLAT_CAUSES, type FlatCause, flatMetric } from '../../protocol/flat-steps.ts';
import { type AdvantageOptions, expectedAdvantages, groupAdvantages, type GroupAdvantages } from './advantages.ts';
import type { Example, PolicyLoss, SampledCompletion, ForwardBackwardOutput, TrainEngine } from '../engines/engine.ts';
import { expectedRewards, type Expectation } from './expected-rewards.ts';
import { type RewardOptions, type RolloutOutcome, rewardOf } from './reward.ts';
import { mean, weightedMean } from '../statistics/statistics.ts';

/** A sampled plan and its outcome. */
export interface JudgedCompletion {
  readonly completion: SampledCompletion;
  /** Undefined where the plan was not carried out. */
  readonly outcome: RolloutOutcome | undefined;
  /** For a valid plan, where only some plans of a step are carried out. */
  readonly expected?: Expectation | undefined;
  /** The outcome of its revision, where it was revised. */
  revised?: RolloutOutcome | undefined;
}

export interface GrpoOptions {
  readonly loss: PolicyLoss;
  readonly reward: RewardOptions;
  /** Share of the revision's reward in the reward of a revised plan; the paper's discount is 0.25 (arXiv 2512.04388 §5). */
  readonly revisionWeight: number;
  readonly advantage: AdvantageOptions;
  /** Updates of each batch. Its completions are dealt out to so many minibatches, one for each update. */
  readonly updates: number;
  /** Leaves truncated completions out of the loss, as DAPO's overlong filtering does (arXiv 2503.14476). */
  readonly maskTruncated: boolean;
  /** Maximum norm of all gradients together; 1 by default in transformers. */
  readonly gradientClip: number;
}

/** Named as in TRL, where TRL has the metric. */
export type StepMetrics = Readonly<Record<string, number>>;

/** What groups of completions say before anything is learned from them. */
export interface JudgedStep {
  readonly examples: readonly Example[];
  readonly metrics: StepMetrics;
}

/** The examples of a step, and its figures without those of the updates. */
export function judgedStep(groups: readonly (readonly JudgedCompletion[])[], options: Pick<GrpoOptions, 'reward' | 'revisionWeight' | 'advantage' | 'maskTruncated'>): JudgedStep {
  const { groups: rewarded, error } = rewardGroups(groups, options);
  const judged = rewarded.map((one) => ({ ...one, examples: one.isFlat ? [] : examplesOf(one, options) }));
  const metrics = {
    ...rolloutMetrics(groups.flat()),
    reward: mean(judged.flatMap(({ rewards }) => rewards.filter((reward) => reward !== undefined))),
    reward_std: mean(judged.map(({ deviation }) => deviation)),
    frac_reward_zero_std: mean(judged.map(({ isFlat }) => Number(isFlat))),
    ...flatMetrics(judged.filter((one) => one.examples.length === 0).map(({ group }) => group), options.reward),
    ...(error !== undefined && { expected_reward_error: error }),
  };
  return { examples: judged.flatMap((one) => one.examples), metrics };
}

/**
 * The updates from groups of completions, one group per question. Completions with an unknown reward are left out, and so are groups whose
 * rewards are all equal. Where nothing is left, the weights do not change and the metrics say so. Where only some plans were carried out, the
 * rewards of all are estimates.
 *
 * With one update, each ratio is 1 and none is clipped. With more, the later ones are of a policy that has changed since the plans were
 * sampled: their ratios are relative to the policy before the first one, as in TRL with `steps_per_generation`.
 */
export async function grpoStep(
  engine: TrainEngine, groups: readonly (readonly JudgedCompletion[])[], options: GrpoOptions,
  { learningRate, signal }: { readonly learningRate: number; readonly signal?: AbortSignal },
): Promise<StepMetrics> {
  const { examples, metrics: judged } = judgedStep(groups, options);
  const metrics = { ...judged, learning_rate: learningRate };
  if (examples.length === 0) return { ...metrics, loss: 0, grad_norm: 0, examples: 0 };
  const updates: StepMetrics[] = [];
  for (const minibatch of minibatches(await withOldLogprobs(engine, examples, options, signal), options.updates)) {
    const output = await engine.forwardBackward(options.loss, minibatch, signal);
    const { gradientNorm } = await engine.optimStep({ learningRate, gradientClip: options.gradientClip });
    updates.push({ ...batchMetrics(output, minibatch, options.loss), loss: output.loss, ...(gradientNorm !== undefined && { grad_norm: gradientNorm }) });
  }
  return { ...metrics, ...meanMetrics(updates), examples: examples.length };
}

interface RewardedGroup extends GroupAdvantages {
  readonly group: readonly JudgedCompletion[];
  /** Undefined where it is not known. */
  readonly rewards: readonly (number | undefined)[];
}

function rewardGroups(groups: readonly (readonly JudgedCompletion[])[], options: Pick<GrpoOptions, 'reward' | 'revisionWeight' | 'advantage'>): { readonly groups: readonly RewardedGroup[]; readonly error?: number | undefined } {
  if (!groups.flat().some(({ expected }) => expected)) {
    return {
      groups: groups.map((group) => {
        const rewards = group.map((rollout) => blendedReward(rollout, options));
        return { group, rewards, ...groupAdvantages(rewards, options.advantage) };
      }),
    };
  }
  const { rewards, deviation, error } = expectedRewards(groups.map((group) => group.map(withExpectation)), options.reward);
  return { groups: groups.map((group, index) => ({ group, rewards: rewards[index]!, ...expectedAdvantages(rewards[index]!, deviation, options.advantage) })), error };
}

/** Of machines that train together, some carry out all of their plans. With odds of 1 the reward is the outcome's, whatever was expected. */
const withExpectation = (plan: JudgedCompletion): JudgedCompletion =>
  (plan.expected || !plan.outcome || plan.outcome.kind === 'unparseable' ? plan : { ...plan, expected: { chance: 0.5, odds: 1 } });

/** What a group teaches: one example for each plan whose reward is known, unless it is left out because it was cut off. */
function examplesOf({ group, rewards, advantages }: RewardedGroup, { maskTruncated }: Pick<GrpoOptions, 'maskTruncated'>): Example[] {
  return group.flatMap(({ completion }, index): Example[] => {
    const isLeftOut = rewards[index] === undefined || completion.tokens.length === 0 || (maskTruncated && isCutOff(completion));
    const { promptTokens, tokens, logprobs } = completion;
    return isLeftOut ? [] : [{ promptTokens, tokens, samplerLogprobs: logprobs, advantage: advantages[index] as number }];
  });
}

const isCutOff = ({ finishReason }: SampledCompletion): boolean => finishReason === 'length';

async function withOldLogprobs(
  engine: TrainEngine, examples: readonly Example[], { updates, loss: { temperature } }: GrpoOptions, signal: AbortSignal | undefined,
): Promise<readonly Example[]> {
  if (updates === 1) return examples;
  const logprobs = await engine.forward(examples, temperature, signal);
  return examples.map((example, index) => ({ ...example, oldLogprobs: logprobs[index] }));
}

/** Deals the examples out in turn, so that each minibatch has some of each group. None is empty. */
function minibatches(examples: readonly Example[], count: number): readonly (readonly Example[])[] {
  const parts = Math.min(count, examples.length);
  return Array.from({ length: parts }, (_, part) => examples.filter((__, index) => index % parts === part));
}

/** The mean of each metric over the updates of a batch, as TRL logs it. */
function meanMetrics(updates: readonly StepMetrics[]): StepMetrics {
  return Object.fromEntries(Object.keys(updates[0] ?? {}).map((name) => [name, mean(updates.map((update) => update[name] ?? 0))]));
}

function blendedReward({ outcome, revised }: JudgedCompletion, { reward: options, revisionWeight }: Pick<GrpoOptions, 'reward' | 'revisionWeight'>): number | undefined {
  const own = outcome && rewardOf(outcome, options);
  const later = revised && rewardOf(revised, options);
  return own === undefined || later === undefined ? own : (1 - revisionWeight) * own + revisionWeight * later;
}

function rolloutMetrics(rollouts: readonly JudgedCompletion[]): StepMetrics {
  const lengths = rollouts.map(({ completion }) => completion.tokens.length);
  const share = (test: (rollout: JudgedCompletion) => boolean): number => mean(rollouts.map((rollout) => Number(test(rollout))));
  const judged = rollouts.filter(({ outcome }) => outcome !== undefined);
  return {
    'completions/mean_length': mean(lengths),
    'completions/min_length': Math.min(...lengths),
    'completions/max_length': Math.max(...lengths),
    'completions/clipped_ratio': share(({ completion }) => isCutOff(completion)),
    format_rate: share(({ outcome }) => outcome?.kind !== 'unparseable'),
    // A plan that is carried out stands for those that were as likely to be and are not.
    verified_rate: weightedMean(judged, ({ outcome }) => Number(outcome?.kind === 'judged' && outcome.verified), ({ expected }) => 1 / (expected?.odds ?? 1)),
    cost_usd: rollouts.reduce((sum, { outcome }) => sum + (outcome?.kind === 'judged' ? outcome.costUsd : 0), 0),
    errored_rollouts: rollouts.filter(({ outcome }) => outcome?.kind === 'infrastructure').length,
  };
}

/** The number of groups that teach nothing, by what their plans have in common. It tells why a step teaches nothing. */
function flatMetrics(groups: readonly (readonly JudgedCompletion[])[], { passes }: RewardOptions): StepMetrics {
  const count = (cause: FlatCause): number => groups.filter((group) => causeOf(group, passes) === cause).length;
  return Object.fromEntries(FLAT_CAUSES.map((cause) => [flatMetric(cause), count(cause)]));
}

function causeOf(group: readonly JudgedCompletion[], passes: RewardOptions['passes']): FlatCause {
  const known = group.filter(({ outcome }) => outcome && outcome.kind !== 'infrastructure');
  if (known.length === 0) return 'unknown';
  if (known.every(({ completion }) => isCutOff(completion))) return 'cut-off';
  if (known.every(({ outcome }) => outcome?.kind === 'unparseable')) return 'invalid';
  const isRight = ({ outcome }: JudgedCompletion): boolean => outcome?.kind === 'judged' && (outcome.verified || (passes === 'right' && outcome.passes === true));
  return known.every(isRight) ? 'solved' : 'unsolved';
}

function batchMetrics({ logprobs, entropies, referenceLogprobs }: ForwardBackwardOutput, examples: readonly Example[], { importanceRatioCap, clip }: PolicyLoss): StepMetrics {
  const old = examples.map(({ oldLogprobs }, index) => oldLogprobs ?? logprobs[index]!);
  const differences = old.flatMap((row, index) => row.map((logprob, token) => logprob - (examples[index]!.samplerLogprobs[token] as number)));
  const ratios = differences.map((difference) => Math.exp(difference)).map((ratio) => (importanceRatioCap > 0 ? Math.min(ratio, importanceRatioCap) : ratio));
  const distances = referenceLogprobs?.flatMap((row, index) => row.map((reference, token) => reference - (logprobs[index]![token] as number)));
  return {
    ...(entropies && { entropy: mean(entropies.flat()) }),
    'sampling/sampling_logp_difference/mean': mean(differences.map(Math.abs)),
    'sampling/sampling_logp_difference/max': most(differences.map(Math.abs)),
    'sampling/importance_sampling_ratio/min': -most(ratios.map((ratio) => -ratio)),
    'sampling/importance_sampling_ratio/mean': mean(ratios),
    'sampling/importance_sampling_ratio/max': most(ratios),
    ...(examples.some(({ oldLogprobs }) => oldLogprobs) && clipMetrics(logprobs, old, examples, clip)),
    ...(distances && { kl: mean(distances.map((distance) => Math.exp(distance) - distance - 1)) }),
  };
}

/** The share of tokens whose ratio of new to old probability is beyond the clip range, on the side where that removes their gradient. */
export function clipMetrics(
  logprobs: readonly (readonly number[])[], old: readonly (readonly number[])[], examples: readonly Pick<Example, 'advantage'>[], clip: PolicyLoss['clip'],
): StepMetrics {
  const clipped = logprobs.flatMap((row, index) => row.map((logprob, token) => {
    const [ratio, advantage] = [Math.exp(logprob - old[index]![token]!), examples[index]!.advantage];
    return { low: Number(ratio < 1 - clip.low && advantage < 0), high: Number(ratio > 1 + clip.high && advantage > 0) };
  }));
  const [low, high] = [mean(clipped.map((token) => token.low)), mean(clipped.map((token) => token.high))];
  return { 'clip_ratio/low_mean': low, 'clip_ratio/high_mean': high, 'clip_ratio/region_mean': low + high };
}

const most = (values: readonly number[]): number => values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
