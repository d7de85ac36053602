import path from 'node:path';
import type { TrainableModel } from '../../lm/language-model.ts';
import { imitationWeights, lossWeights } from '../../lm/trainer/loss-weights.ts';
import type { Example, Imitation, PolicyLoss, SampledCompletion, SampleRequest, TrainedBatch, TrainEngine } from './engine.ts';

/** Trains an adapter of a model on this machine, or all weights of a small one. */
export class LocalEngine implements TrainEngine {
  readonly #model: TrainableModel;
  readonly #versions: string;
  readonly #trainsWeights: boolean;
  readonly #reference: Pick<TrainableModel, 'score'>;
  #sampler: string | undefined;

  /**
   * `versions`: the folder (absolute) that holds one adapter a version; `sampler`: the one to sample from at first, or any folder's
   * (absolute), or the model alone. `trains`: weights are sampled from as they are learned, and no versions of them are kept. `reference`: what
   * the divergence is from, by default the model without its adapter; where weights are trained, a model that keeps them as they were.
   */
  constructor(
    model: TrainableModel,
    { versions, sampler, trains = 'adapter', reference = model }: {
      readonly versions: string; readonly sampler?: string | undefined; readonly trains?: 'adapter' | 'weights' | undefined;
      readonly reference?: Pick<TrainableModel, 'score'> | undefined;
    },
  ) {
    this.#model = model;
    this.#trainsWeights = trains === 'weights';
    this.#reference = reference;
    this.#versions = versions;
    this.#sampler = sampler === undefined ? undefined : path.resolve(versions, sampler);
  }

  async sample({ messages, prefill, maxTokens, temperature, seeds, signal }: SampleRequest): Promise<readonly SampledCompletion[]> {
    const adapter = this.#sampler;
    const written = await this.#model.write({ messages, prefill, maxTokens, temperature, samples: seeds.length, seeds, adapter, signal });
    return written.map(({ text, promptTokenIds, tokenIds, logprobs, finishReason }) => ({
      text, promptTokens: promptTokenIds, tokens: tokenIds, logprobs, finishReason,
    }));
  }

  async forwardBackward(loss: PolicyLoss | Imitation, batch: readonly Example[], signal?: AbortSignal): Promise<TrainedBatch> {
    const sequences = batch.map(({ promptTokens, tokens }) => [...promptTokens, ...tokens]);
    const promptLengths = batch.map(({ promptTokens }) => promptTokens.length);
    const all = batch.reduce((sum, { tokens }) => sum + tokens.length, 0);
    if (loss.type === 'cross_entropy') {
      const tokens = batch.map((example) => imitationWeights(example.tokens.length, { tokens: all / (loss.weight ?? 1) }));
      return await this.#model.forwardBackward({ sequences, promptLengths, tokens, signal });
    }
    const { type, clip, divergence, importanceLimit, temperature, maxCompletionLength } = loss;
    const reference = divergence === 0 ? undefined : await this.#reference.score({ sequences, promptLengths, temperature, signal });
    const size = { completions: batch.length, tokens: all, maxCompletionLength };
    const tokens = batch.map(({ tokens: { length }, samplerLogprobs, advantage }, row) =>
      lossWeights({ tokens: length, advantage, samplerLogprobs, referenceLogprobs: reference?.[row] }, { type, divergence }, size));
    const told = await this.#model.forwardBackward({ sequences, promptLengths, tokens, clip, importanceLimit, temperature, onPolicy: true, signal });
    return { ...told, ...(reference && { referenceLogprobs: reference }) };
  }

  optimStep(step: { readonly learningRate: number; readonly gradientClip: number }): Promise<{ readonly gradientNorm: number }> {
    return this.#model.optimStep(step);
  }

  async saveForSampler(name: string): Promise<void> {
    if (this.#trainsWeights) return;
    const folder = path.join(this.#versions, name);
    await this.#model.exportTrained(folder);
    this.#sampler = folder;
  }

  exportAdapter(folder: string): Promise<void> {
    return this.#model.exportTrained(folder);
  }

  saveState(folder: string): Promise<void> {
    return this.#model.saveTraining(folder);
  }
}
