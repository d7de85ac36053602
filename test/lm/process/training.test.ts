import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PROJECTIONS } from '../../../backend/lm/adapter/projections.ts';
import { ModelRequestError } from '../../../backend/lm/decoder/request-error.ts';
import type { TrainableModel, TrainRequest } from '../../../backend/lm/language-model.ts';
import { ADAMW_DEFAULTS } from '../../../backend/lm/trainer/adamw.ts';
import { lossWeights } from '../../../backend/lm/trainer/loss-weights.ts';
import { readFigures } from '../../golden/golden.ts';
import { modelClients, seeds } from './model-clients.ts';

const open = modelClients();
const trainable = (): TrainableModel => open('qwen2-tiny', { settings: { trainable: 'adapter' } }).client;

let folder: string;
beforeEach(async () => { folder = await mkdtemp(path.join(tmpdir(), 'training-')); });
afterEach(() => rm(folder, { recursive: true, force: true }));

const NEW = { rank: 4, alpha: 8, projections: PROJECTIONS, seed: 3 };
const START = { adapter: NEW, optimizer: ADAMW_DEFAULTS };

/** Completions of the golden prompts by the model as it is, half of them to be likelier and half less likely. */
async function sampled(model: TrainableModel, adapter: string | undefined, seed: number): Promise<TrainRequest> {
  const { prompts } = await readFigures('qwen2-tiny');
  const rows = await model.generate({ prompts, samples: 2, maxTokens: 12, temperature: 1, seeds: seeds(2 * prompts.length, seed), adapter });
  const batch = { completions: rows.length, tokens: rows.reduce((sum, { tokens }) => sum + tokens.length, 0), maxCompletionLength: 12 };
  return {
    sequences: rows.map(({ tokens }, row) => [...prompts[row >> 1]!, ...tokens]),
    promptLengths: rows.map((_, row) => prompts[row >> 1]!.length),
    tokens: rows.map(({ logprobs }, row) => lossWeights({ tokens: logprobs.length, oldLogprobs: logprobs, advantage: row % 2 ? -1 : 1 }, { type: 'grpo' }, batch)),
    clip: { low: 0.2, high: 0.2 },
  };
}

describe('training in a process of its own', () => {
  it('encodes a text that somebody else wrote as the answer to a prompt', async () => {
    const model = trainable();
    const prompt = { messages: [{ role: 'user' as const, content: 'Who writes?' }], prefill: 'Steps:' };
    const [open_, ended] = [await model.encode(prompt, { text: ' write2', ends: false }), await model.encode(prompt, { text: ' write2', ends: true })];
    expect(open_.promptTokenIds).toHaveLength(await model.countTokens(prompt));
    expect(open_.tokenIds.length).toBeGreaterThan(0);
    expect(ended.tokenIds.slice(0, -1)).toEqual(open_.tokenIds);
    expect(ended.promptTokenIds).toEqual(open_.promptTokenIds);
  });

  it('has the log-probabilities of the sampler at the start and after each step', async () => {
    const model = trainable();
    await model.startTraining(START);
    let adapter: string | undefined;
    for (let step = 0; step < 3; step += 1) {
      const batch = await sampled(model, adapter, 10 * step);
      const { logprobs, entropies } = await model.forwardBackward(batch);
      logprobs.forEach((row, index) => row.forEach((logprob, token) => {
        expect(Math.abs(logprob - batch.tokens[index]!.oldLogprobs![token]!), `step ${step}`).toBeLessThan(1e-4);
      }));
      expect(entropies.flat().every((entropy) => entropy > 0 && entropy < Math.log(832))).toBe(true);
      const { gradientNorm } = await model.optimStep({ learningRate: 0.02, gradientClip: 1 });
      expect(gradientNorm).toBeGreaterThan(0);
      adapter = path.join(folder, `version-${step}`);
      await model.exportTrained(adapter);
    }
    const change = await model.score({ ...(await readFigures('qwen2-tiny')), adapter });
    expect(change).not.toEqual(await model.score(await readFigures('qwen2-tiny')));
  });

  it('goes on in another process from what was saved, bit for bit', async () => {
    const first = trainable();
    await first.startTraining(START);
    const batch = await sampled(first, undefined, 1);
    await first.forwardBackward(batch);
    await first.optimStep({ learningRate: 0.02 });
    await first.saveTraining(path.join(folder, 'saved'));
    const second = trainable();
    await second.startTraining({ ...START, resume: path.join(folder, 'saved') });
    const told = await Promise.all([first, second].map(async (model) => [
      await model.forwardBackward(batch), await model.optimStep({ learningRate: 0.02 }), await model.forwardBackward(batch),
    ]));
    expect(told[1]).toEqual(told[0]);
    expect(await readdir(folder)).toEqual(['saved']);
  });

  it('gives the same gradients however the batch is cut, and forgets those of a batch that failed', async () => {
    const model = trainable();
    await model.startTraining(START);
    const batch = await sampled(model, undefined, 1);
    await expect(model.forwardBackward({ ...batch, promptLengths: batch.promptLengths.with(3, 0) })).rejects.toThrow(ModelRequestError);
    await model.forwardBackward(batch);
    const whole = await model.optimStep({ learningRate: 0 });
    const rows = <T>(list: readonly T[], from: number, to?: number): T[] => list.slice(from, to);
    for (const [from, to] of [[0, 3], [3, undefined]] as const) {
      const { sequences, promptLengths, tokens, clip } = batch;
      await model.forwardBackward({ sequences: rows(sequences, from, to), promptLengths: rows(promptLengths, from, to), tokens: rows(tokens, from, to), clip });
    }
    expect((await model.optimStep({ learningRate: 0 })).gradientNorm).toBeCloseTo(whole.gradientNorm, 5);
  });

  it('trains all weights of a small model, samples from what was learned, and writes a model that says the same', async () => {
    const model = open('qwen3-tiny', { settings: { trainable: 'weights', adapters: false } }).client;
    await model.startTraining({ optimizer: ADAMW_DEFAULTS });
    const { sequences, promptLengths, base } = await readFigures('qwen3-tiny');
    const counts = sequences.map((sequence, row) => sequence.length - promptLengths[row]!);
    const total = counts.reduce((a, b) => a + b, 0);
    const batch = { sequences, promptLengths, tokens: counts.map((count) => ({ crossEntropyWeights: new Array<number>(count).fill(1 / total) })) };
    const losses: number[] = [];
    for (let step = 0; step < 12; step += 1) {
      losses.push((await model.forwardBackward(batch)).loss);
      await model.optimStep({ learningRate: 0.003, gradientClip: 1 });
    }
    expect(losses[0]).toBeCloseTo(base.loss, 4);
    expect(losses.at(-1)).toBeLessThan(0.5 * losses[0]!);
    const learned = await model.score({ sequences, promptLengths });
    await model.exportTrained(path.join(folder, 'model'));
    expect((await readdir(path.join(folder, 'model'))).sort()).toEqual(
      expect.arrayContaining(['config.json', 'model.safetensors', 'tokenizer.json', 'tokenizer_config.json']),
    );
    const exported = open('qwen3-tiny', { settings: { folder: path.join(folder, 'model') } }).client;
    const again = await exported.score({ sequences, promptLengths });
    again.forEach((row, index) => row.forEach((logprob, token) => expect(logprob).toBeCloseTo(learned[index]![token]!, 4)));
  });

  it('says what is missing', async () => {
    const { client: fixed } = open();
    await expect(fixed.startTraining(START)).rejects.toThrow('The model was loaded without anything to train.');
    const model = trainable();
    await expect(model.optimStep({ learningRate: 1 })).rejects.toThrow('No training was begun.');
    await model.startTraining(START);
    await expect(model.startTraining({ ...START, adapter: path.join(folder, 'none') })).rejects.toThrow(/adapter_config\.json/);
  });
});
