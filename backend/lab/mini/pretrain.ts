import type { Tokenizer } from '../../lm/tokenizer/tokenizer.ts';
import type { Example, TrainEngine } from '../../train/engines/engine.ts';
import { learningRate, type LearningRateOptions } from '../../train/grpo/learning-rate.ts';
import type { TrainingCheckpoint, CheckpointStore } from '../../train/grpo/checkpoint-store.ts';
import { exampleAt, openingsAt, type PlanExample } from './examples.ts';

export interface PretrainOptions {
  readonly seed: number;
  readonly steps: number;
  /** Examples of a step: whole texts, and conversations with several openings each. None comes twice. */
  readonly batchSize: { readonly texts: number; readonly openings: number };
  readonly learningRate: LearningRateOptions;
  /** The most that the norm of all gradients together may be. */
  readonly gradientClip: number;
  /** Steps from one checkpoint to the next. */
  readonly stepsKept: number;
}

/** About half an hour on two cores that have nothing else to do. The rate is high, as small models like it. */
export const PRETRAIN_DEFAULTS: PretrainOptions = {
  seed: 1, steps: 2_400, batchSize: { texts: 12, openings: 8 }, learningRate: { peak: 2e-3, warmup: 0.05, schedule: 'cosine' }, gradientClip: 1, stepsKept: 50,
};

/** For AdamW: gradients of single steps are noisy here, and there are few steps to average over. */
export const PRETRAIN_OPTIMIZER = { beta1: 0.9, beta2: 0.98, epsilon: 1e-8, weightDecay: 0.01 } as const;

export interface PretrainedStep {
  /** Steps done, this one included. */
  readonly step: number;
  /** Nats a token of the plans. */
  readonly loss: number;
  readonly gradientNorm: number;
  /** Prompts and plans. */
  readonly tokens: number;
}

export interface PretrainParts {
  readonly engine: TrainEngine;
  readonly store: CheckpointStore;
  readonly tokenizer: Pick<Tokenizer, 'chat' | 'encode' | 'stopTokenIds'>;
  readonly onStep?: ((told: PretrainedStep) => void) | undefined;
}

/**
 * Learns to write plans by imitation, from where the checkpoint left off to the last step. The examples of a step follow from the seed and the
 * step, so that a training that was killed goes on as if it had not been. Throws the signal's reason, and what the engine throws.
 */
export async function pretrain(
  { engine, store, tokenizer, onStep }: PretrainParts, options: PretrainOptions,
  { from, signal }: { readonly from: TrainingCheckpoint | undefined; readonly signal: AbortSignal },
): Promise<void> {
  const { seed, steps, batchSize, gradientClip, stepsKept } = options;
  const metrics = [...(from?.metrics ?? [])];
  for (let step = from?.step ?? 0; step < steps; step += 1) {
    signal.throwIfAborted();
    const batch = batchOf(step, { seed, batchSize, tokenizer });
    const { loss } = await engine.forwardBackward({ type: 'cross_entropy' }, batch, signal);
    const { gradientNorm } = await engine.optimStep({ learningRate: learningRate(step + 1, steps + 1, options.learningRate), gradientClip });
    const done = step + 1;
    const tokens = batch.reduce((sum, example) => sum + example.promptTokens.length + example.tokens.length, 0);
    metrics.push({ loss, grad_norm: gradientNorm, tokens });
    if (done % stepsKept === 0 || done === steps) await store.save(done, metrics, (folder) => engine.saveState(folder));
    onStep?.({ step: done, loss, gradientNorm, tokens });
  }
}

function batchOf(
  step: number, { seed, batchSize, tokenizer }: Pick<PretrainOptions, 'seed' | 'batchSize'> & Pick<PretrainParts, 'tokenizer'>,
): Example[] {
  const numbers = (count: number): number[] => Array.from({ length: count }, (_, place) => step * count + place);
  const texts = numbers(batchSize.texts).map((number) => imitated(exampleAt(seed, number), tokenizer));
  const openings = numbers(batchSize.openings).map((number) => openingsAt(seed, number)).flatMap((example) => {
    const promptTokens = tokenizer.chat(example.messages);
    return example.openings.map((opening) => ({ promptTokens, tokens: encoded(opening, tokenizer), ...UNSAMPLED }));
  });
  return [...texts, ...openings];
}

/** What was not sampled has no advantage over anything. */
const UNSAMPLED = { samplerLogprobs: [], advantage: 0 } as const;

/** A whole text, its end included. */
export const imitated = ({ messages, text }: PlanExample, tokenizer: PretrainParts['tokenizer']): Example =>
  ({ promptTokens: tokenizer.chat(messages), tokens: [...encoded(text, tokenizer), ...tokenizer.stopTokenIds.slice(0, 1)], ...UNSAMPLED });

const encoded = (text: string, tokenizer: PretrainParts['tokenizer']): number[] => tokenizer.encode(text, { specialTokens: 'plain' });
