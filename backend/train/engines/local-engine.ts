import { existsSync } from 'node:fs';
import path from 'node:path';
import type { LanguageModel, TrainableModel } from '../../lm/language-model.ts';
import { crossEntropyWeights, lossWeights } from '../../lm/trainer/loss-weights.ts';
import type { BatchToTrain } from '../../lm/trainer/trainer.ts';
import type {
  CrossEntropyLoss, Example, ForwardBackwardOutput, PolicyLoss, Prompt, SampledCompletion, SampleRequest, TrainEngine,
} from './engine.ts';

export interface LocalEngineOptions {
  /** The folder (absolute) that holds one adapter per version. */
  readonly versions: string;
  /** What to sample from: the name of a version or a PEFT folder (absolute); the model without an adapter by default. */
  readonly initial?: string | undefined;
  readonly latest?: string | undefined;
  /** `weights`: all weights are trained and sampled from as they are; no versions are kept. */
  readonly trains?: 'adapter' | 'weights' | undefined;
  /** The reference for the KL divergence: by default the model without its adapter. Where weights are trained, a second copy of the model, which is `initial`, too. */
  readonly reference?: Pick<LanguageModel, 'score' | 'write'> | undefined;
}

/** Trains an adapter of a model on this machine, or all weights of a small one. */
export class LocalEngine implements TrainEngine {
  readonly #model: TrainableModel;
  readonly #versions: string;
  readonly #trainsWeights: boolean;
  readonly #reference: Pick<LanguageModel, 'score' | 'write'>;
  readonly #initial: string | undefined;
  #latest: string | undefined;

  constructor(model: TrainableModel, { versions, initial, latest, trains = 'adapter', reference = model }: LocalEngineOptions) {
    this.#model = model;
    this.#trainsWeights = trains === 'weights';
    this.#reference = reference;
    this.#versions = versions;
    this.#initial = initial && path.resolve(versions, initial);
    this.#latest = latest && path.resolve(versions, latest);
  }

  async hasRoom(prompt: Prompt, tokens: number): Promise<boolean> {
    const { contextLength } = await this.#model.describe();
    return (await this.#model.countTokens(prompt)) + tokens <= contextLength;
  }

  async sample({ messages, prefill, maxTokens, temperature, seeds, version, signal }: SampleRequest): Promise<readonly SampledCompletion[]> {
    const { model, adapter } = this.#versionOf(version);
    const written = await model.write({ messages, prefill, maxTokens, temperature, samples: seeds.length, seeds, adapter, signal });
    return written.map(({ text, promptTokenIds, tokenIds, logprobs, finishReason }) => ({
      text, promptTokens: promptTokenIds, tokens: tokenIds, logprobs, finishReason,
    }));
  }

  async encode(prompt: Prompt, answer: { readonly text: string; readonly ends: boolean }): Promise<Pick<Example, 'promptTokens' | 'tokens'>> {
    const { promptTokenIds, tokenIds } = await this.#model.encode(prompt, answer);
    return { promptTokens: promptTokenIds, tokens: tokenIds };
  }

  async forward(
    batch: readonly Pick<Example, 'promptTokens' | 'tokens'>[], temperature: number, signal?: AbortSignal, version?: SampleRequest['version'],
  ): Promise<readonly (readonly number[])[]> {
    const { model, adapter } = this.#versionOf(version);
    return await model.score({ ...sequencesOf(batch), temperature, adapter, signal });
  }

  async forwardBackward(loss: PolicyLoss | CrossEntropyLoss, batch: readonly Example[], signal?: AbortSignal): Promise<ForwardBackwardOutput> {
    const { sequences, promptLengths } = sequencesOf(batch);
    const all = batch.reduce((sum, { tokens }) => sum + tokens.length, 0);
    if (loss.type === 'cross_entropy') {
      const weighed = batch.reduce((sum, { tokens, weight = 1 }) => sum + weight * tokens.length, 0);
      const tokens = batch.map((example) => crossEntropyWeights(example.tokens.length, { tokens: weighed / ((example.weight ?? 1) * (loss.weight ?? 1)) }));
      return await this.#model.forwardBackward({ sequences, promptLengths, tokens, signal });
    }
    const { type, clip, klCoefficient, importanceRatioCap, temperature, maxCompletionLength } = loss;
    const reference = klCoefficient === 0 ? undefined : await this.#reference.score({ sequences, promptLengths, temperature, signal });
    const size = { completions: batch.length, tokens: all, maxCompletionLength };
    const tokens = batch.map(({ tokens: { length }, samplerLogprobs, oldLogprobs, advantage }, row) =>
      lossWeights({ tokens: length, advantage, oldLogprobs, samplerLogprobs, referenceLogprobs: reference?.[row] }, { type, klCoefficient }, size));
    const output = await this.#model.forwardBackward({
      sequences, promptLengths, tokens, clip, importanceRatioCap, temperature, onPolicy: batch.every(({ oldLogprobs }) => !oldLogprobs), signal,
    });
    return { ...output, ...(reference && { referenceLogprobs: reference }) };
  }

  #versionOf(version: SampleRequest['version']): { readonly model: Pick<LanguageModel, 'score' | 'write'>; readonly adapter: string | undefined } {
    if (!this.#trainsWeights) return { model: this.#model, adapter: version === 'initial' ? this.#initial : this.#latest };
    if (version !== 'initial') return { model: this.#model, adapter: undefined };
    if (this.#reference === this.#model) throw new Error('Trained weights replace the initial ones: load the model a second time.');
    return { model: this.#reference, adapter: undefined };
  }

  optimStep(step: { readonly learningRate: number; readonly gradientClip: number }): Promise<{ readonly gradientNorm: number }> {
    return this.#model.optimStep(step);
  }

  async saveForSampler(name: string): Promise<void> {
    if (this.#trainsWeights) return;
    const folder = path.join(this.#versions, name);
    await this.#model.exportTrained(folder);
    this.#latest = folder;
  }

  async saveTrained(name: string): Promise<void> {
    const folder = path.join(this.#versions, name);
    if (this.#trainsWeights && !existsSync(folder)) await this.#model.exportTrained(folder);
  }

  saveState(folder: string): Promise<void> {
    return this.#model.saveTraining(folder);
  }
}

function sequencesOf(batch: readonly Pick<Example, 'promptTokens' | 'tokens'>[]): Pick<BatchToTrain, 'sequences' | 'promptLengths'> {
  return {
    sequences: batch.map(({ promptTokens, tokens }) => [...promptTokens, ...tokens]),
    promptLengths: batch.map(({ promptTokens }) => promptTokens.length),
  };
}
