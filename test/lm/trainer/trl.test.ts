import { describe, expect, it } from 'vitest';
import { type Adapter, readAdapter } from '../../../backend/lm/adapter/read-adapter.ts';
import { tensorsOf } from '../../../backend/lm/adapter/write-adapter.ts';
import { openCheckpoint } from '../../../backend/lm/checkpoint/open-checkpoint.ts';
import { readTensor } from '../../../backend/lm/checkpoint/read-tensor.ts';
import { readSafetensorsHeader, storedTensor } from '../../../backend/lm/checkpoint/safetensors-file.ts';
import { DecoderSession } from '../../../backend/lm/decoder/decoder-session.ts';
import type { BatchGradients, GradientRequest } from '../../../backend/lm/decoder/gradient-run.ts';
import { ADAMW_DEFAULTS, gradientNorm } from '../../../backend/lm/trainer/adamw.ts';
import { lossWeights } from '../../../backend/lm/trainer/loss-weights.ts';
import { ParameterTrainer } from '../../../backend/lm/trainer/parameter-trainer.ts';
import { clipMetrics } from '../../../backend/train/grpo/grpo-step.ts';
import {
  adapterFolder, type GoldenModel, modelFolder, readTrainingFigures, type TrainingCase, trainingFile, type TrainingFigures,
} from '../../golden/golden.ts';

const ADAPTERS: readonly (readonly [string, GoldenModel])[] = [['qwen2-tiny-all', 'qwen2-tiny'], ['qwen3-tiny-all', 'qwen3-tiny']];
/** As training_figures.py has it. */
const LIMIT = 1.2;
const CASES: readonly TrainingCase[] = ['grpo', 'dr_grpo', 'dapo', 'grpo-kl'];

async function open(model: GoldenModel): Promise<DecoderSession> {
  const checkpoint = await openCheckpoint(modelFolder(model));
  return await DecoderSession.open(checkpoint, {
    device: 'cpu', compute: 'float32', contextLength: 128, threads: 1, adapters: true, trainable: 'adapter',
  });
}

async function adapterOf(name: string, model: GoldenModel): Promise<Adapter> {
  return await readAdapter(adapterFolder(name), (await openCheckpoint(modelFolder(model))).config);
}

/** A case as our loss wants it; `rows`: some of its completions, as a micro-batch has them. */
function requestOf(figures: TrainingFigures, name: TrainingCase, adapter: Adapter, rows = figures.sequences.map((_, row) => row)): GradientRequest {
  const { lossType, beta, importance } = figures.cases[name];
  const batch = {
    completions: figures.sequences.length,
    tokens: figures.oldLogprobs.flat().length,
    maxCompletionLength: figures.maxCompletionLength,
  };
  const { temperature, clip: [low, high] } = figures;
  return {
    sequences: rows.map((row) => figures.sequences[row]!),
    promptLengths: rows.map((row) => figures.promptLengths[row]!),
    tokens: rows.map((row) => lossWeights({
      tokens: figures.oldLogprobs[row]!.length,
      oldLogprobs: figures.oldLogprobs[row]!,
      // As it must have been to the sampler.
      samplerLogprobs: figures.oldLogprobs[row]!.map((logprob, token) => logprob - Math.log(figures.importance[row]![token]!)),
      referenceLogprobs: figures.referenceLogprobs[row]!,
      advantage: figures.advantages[row]!,
    }, { type: lossType, klCoefficient: beta }, batch)),
    clip: { low, high },
    importanceRatioCap: importance ? LIMIT : undefined,
    temperature,
    adapter,
  };
}

async function tensorsIn(file: string): Promise<ReadonlyMap<string, Float32Array>> {
  const { tensors } = await readSafetensorsHeader(file);
  return new Map(await Promise.all(tensors.map(async (tensor) => [tensor.name, await readTensor(storedTensor(tensor))] as const)));
}

/** The largest difference, as a share of the largest number. */
function relativeDifference(values: Float32Array, expected: Float32Array): number {
  let worst = 0;
  expected.forEach((value, index) => (worst = Math.max(worst, Math.abs(values[index]! - value))));
  return worst / expected.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
}

/** 1.4e-5 was the most when this was written: float32 adds up in another order. */
const TOLERANCE = 2e-4;

const mean = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / values.length;

describe.each(ADAPTERS)('a training pass of %s', (name, model) => {
  it.each(CASES)('has the loss of TRL and its gradients: %s', async (which) => {
    const figures = await readTrainingFigures(name);
    const session = await open(model);
    const { loss, gradients } = await session.train(requestOf(figures, which, await adapterOf(name, model)));
    await session.close();
    const { loss: expected, gradientNorm: norm } = figures.cases[which];
    expect(Math.abs(loss - expected) / Math.max(1, Math.abs(expected))).toBeLessThan(1e-5);
    expect(gradientNorm(gradients) / norm).toBeCloseTo(1, 4);
    const golden = await tensorsIn(trainingFile(name, which));
    expect([...gradients.keys()].sort()).toEqual([...golden.keys()].sort());
    for (const [tensor, values] of golden) expect(relativeDifference(gradients.get(tensor)!, values), tensor).toBeLessThan(TOLERANCE);
  });

  it('tells the share of clipped tokens that TRL tells', async () => {
    const figures = await readTrainingFigures(name);
    const { clip: [low, high], cases: { dapo: { metrics } } } = figures;
    const session = await open(model);
    const { logprobs } = await session.train(requestOf(figures, 'dapo', await adapterOf(name, model)));
    await session.close();
    const shares = clipMetrics(logprobs, figures.oldLogprobs, figures.advantages.map((advantage) => ({ advantage })), { low, high });
    expect(metrics['clip_ratio/region_mean']).toBeGreaterThan(0.1);
    for (const [share, value] of Object.entries(shares)) expect(value, share).toBeCloseTo(metrics[share]!, 6);
  });

  it('adds up to the same over micro-batches, and tells the entropies that TRL tells', async () => {
    const figures = await readTrainingFigures(name);
    const session = await open(model);
    const adapter = await adapterOf(name, model);
    const trainer = new ParameterTrainer(tensorsOf(adapter), ADAMW_DEFAULTS);
    const parts: BatchGradients[] = [];
    for (const rows of [[4, 5], [0], [3, 1, 2]]) {
      parts.push(await session.train(requestOf(figures, 'dapo', adapter, rows)));
      trainer.accumulate(parts.at(-1)!.gradients);
    }
    await session.close();
    expect(parts.reduce((sum, { loss }) => sum + loss, 0)).toBeCloseTo(figures.cases.dapo.loss, 5);
    expect(trainer.step({ learningRate: 0 }).gradientNorm / figures.cases.dapo.gradientNorm).toBeCloseTo(1, 4);
    expect(mean(parts.flatMap(({ entropies }) => entropies.flat()))).toBeCloseTo(figures.cases.dapo.metrics['entropy']!, 4);
  });

  it('takes the policy at hand for the one before, where it is told to', async () => {
    const figures = await readTrainingFigures(name);
    const session = await open(model);
    const request = requestOf(figures, 'dapo', await adapterOf(name, model));
    const { logprobs } = await session.train(request);
    const named = await session.train({ ...request, tokens: request.tokens.map((tokens, row) => ({ ...tokens, oldLogprobs: logprobs[row]! })) });
    const onPolicy = await session.train({ ...request, onPolicy: true });
    await session.close();
    expect(onPolicy.loss).toBeCloseTo(named.loss, 6);
    for (const [tensor, values] of named.gradients) expect(relativeDifference(onPolicy.gradients.get(tensor)!, values), tensor).toBeLessThan(1e-4);
  });

  it('takes the steps that AdamW takes in PyTorch, with gradients clipped and weights decaying', async () => {
    const figures = await readTrainingFigures(name);
    const { steps } = figures;
    const session = await open(model);
    const adapter = await adapterOf(name, model);
    const trainer = new ParameterTrainer(tensorsOf(adapter), { ...ADAMW_DEFAULTS, weightDecay: steps.weight_decay });
    for (let step = 0; step < steps.count; step += 1) {
      const { loss, gradients } = await session.train(requestOf(figures, steps.case, { ...adapter }));
      expect(loss).toBeCloseTo(steps.losses[step]!, 3);
      trainer.accumulate(gradients);
      const taken = trainer.step({ learningRate: steps.learning_rate, gradientClip: steps.max_norm });
      expect(taken.gradientNorm / steps.gradientNorms[step]!).toBeCloseTo(1, 2);
    }
    await session.close();
    for (const [tensor, values] of await tensorsIn(trainingFile(name, 'after-steps'))) {
      // 1.3e-4 was the most: the first steps divide by roots of squares that are small.
      expect(relativeDifference(trainer.parameters.get(tensor)!, values), tensor).toBeLessThan(1e-3);
    }
  });
});
