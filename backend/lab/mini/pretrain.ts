import type { Tokenizer } from '../../lm/tokenizer/tokenizer.ts';
import type { Example } from '../../train/engines/engine.ts';
import type { LocalEngine } from '../../train/engines/local-engine.ts';
import { learningRate, type LearningRateOptions } from '../../train/grpo/learning-rate.ts';
import type { TrainingCheckpoint, CheckpointStore } from '../../train/grpo/checkpoint-store.ts';
import { exampleAt, openingsAt, type PlanExample } from './examples.ts';

export interface PretrainOptions {
  readonly seed: number;
  readonly steps: number;
  /** Examples for each step: whole texts, and conversations with several openings each. None is repeated. */
  readonly batchSize: { readonly texts: number; readonly openings: number };
  readonly learningRate: LearningRateOptions;
  /** The maximum global gradient norm. */
  readonly gradientClip: number;
  /** Steps from one checkpoint to the next. */
  readonly stepsKept: number;
  /** Some workers of the examples have hands. */
  readonly withHands?: boolean | undefined;
}

/** Takes about half an hour on two idle cores. Small models train well at a high learning rate. */
export const PRETRAIN_DEFAULTS: PretrainOptions = {
  seed: 1, steps: 2_400, batchSize: { texts: 12, openings: 8 }, learningRate: { peak: 2e-3, warmup: 0.05, schedule: 'cosine' }, gradientClip: 1, stepsKept: 50,
};

/** AdamW's beta2: gradients of single steps are noisy here, and there are few steps to average over. */
export const PRETRAIN_OPTIMIZER = { beta1: 0.9, beta2: 0.98, epsilon: 1e-8, weightDecay: 0.01 } as const;

export interface PretrainedStep {
  /** Completed steps, including this one. */
  readonly step: number;
  /** Nats for each token of the plans. */
  readonly loss: number;
  readonly gradientNorm: number;
  /** Prompts and plans. */
  readonly tokens: number;
}

export interface PretrainParts {
  readonly engine: Pick<LocalEngine, 'forwardBackward' | 'optimStep' | 'saveState'>;
  readonly store: CheckpointStore;
  readonly tokenizer: Pick<Tokenizer, 'chat' | 'encode' | 'stopTokenIds'>;
  readonly onStep?: ((metrics: PretrainedStep) => void) | undefined;
}

/**
 * Learns to write plans by imitation, from the last checkpoint to the last step. The seed and the step determine the examples, so that a killed
 * training resumes with the same result. @throws the signal's reason, and errors of the engine
 */
export async function pretrain(
  { engine, store, tokenizer, onStep }: PretrainParts, options: PretrainOptions,
  { from, signal }: { readonly from: TrainingCheckpoint | undefined; readonly signal: AbortSignal },
): Promise<void> {
  const { seed, steps, batchSize, gradientClip, stepsKept, withHands } = options;
  const metrics = [...(from?.metrics ?? [])];
  for (let step = from?.step ?? 0; step < steps; step += 1) {
    signal.throwIfAborted();
    const batch = batchOf(step, { seed, batchSize, tokenizer, withHands });
    const { loss } = await engine.forwardBackward({ type: 'cross_entropy' }, batch, signal);
    const { gradientNorm } = await engine.optimStep({ learningRate: learningRate(step, steps, options.learningRate), gradientClip });
    const done = step + 1;
    const tokens = batch.reduce((sum, example) => sum + example.promptTokens.length + example.tokens.length, 0);
    metrics.push({ loss, grad_norm: gradientNorm, tokens });
    if (done % stepsKept === 0 || done === steps) await store.save(done, { metrics }, (folder) => engine.saveState(folder));
    onStep?.({ step: done, loss, gradientNorm, tokens });
  }
}

function batchOf(
  step: number, { seed, batchSize, tokenizer, withHands }: Pick<PretrainOptions, 'seed' | 'batchSize' | 'withHands'> & Pick<PretrainParts, 'tokenizer'>,
): Example[] {
  const numbers = (count: number): number[] => Array.from({ length: count }, (_, place) => step * count + place);
  const texts = numbers(batchSize.texts).map((number) => imitated(exampleAt(seed, number, { withHands }), tokenizer));
  const openings = numbers(batchSize.openings).map((number) => openingsAt(seed, number, { withHands })).flatMap((example) => {
    const promptTokens = tokenizer.chat(example.messages);
    return example.openings.map((opening) => ({ promptTokens, tokens: encoded(opening, tokenizer), ...UNSAMPLED }));
  });
  return [...texts, ...openings];
}

/** Texts that were not sampled have no advantage. */
const UNSAMPLED = { samplerLogprobs: [], advantage: 0 } as const;

/** A whole text, its end included. */
export const imitated = ({ messages, text }: PlanExample, tokenizer: PretrainParts['tokenizer']): Example =>
  ({ promptTokens: tokenizer.chat(messages), tokens: [...encoded(text, tokenizer), ...tokenizer.stopTokenIds.slice(0, 1)], ...UNSAMPLED });

const encoded = (text: string, tokenizer: PretrainParts['tokenizer']): number[] => tokenizer.encode(text, { specialTokens: 'plain' });
