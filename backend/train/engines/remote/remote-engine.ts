import { writeFile, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { mapInOrder } from '../../../common/map-in-order.ts';
import type { DecoderConfig } from '../../../lm/checkpoint/decoder-config.ts';
import type { Tokenizer } from '../../../lm/tokenizer/tokenizer.ts';
import type {
  CrossEntropyLoss, Example, ForwardBackwardOutput, PolicyLoss, Prompt, SampledCompletion, SampleRequest, TrainEngine,
} from '../engine.ts';
import type { SharedModel } from '../engine-start.ts';
import { bringHome } from './bring-home.ts';
import type { NewModel, SampleOrder, TinkerClient } from './client.ts';
import { RemoteError } from './remote-error.ts';
import { RemoteModel, type ServerAccount } from './remote-model.ts';
import { type RemoteState, STATE_FILE } from './remote-state.ts';
import { priceOf } from './server-price.ts';
import { crossEntropyBatch, forwardBatch, isOnPolicy, lossValue, ofCompletions, serverBatch, type TokenExample } from './server-loss.ts';

export interface RemoteEngineOptions {
  readonly client: TinkerClient;
  readonly model: NewModel;
  readonly tokenizer: Pick<Tokenizer, 'chat' | 'decode' | 'stopTokenIds'>;
  readonly config: DecoderConfig;
  /** The most tokens of a prompt with its answer. */
  readonly contextLength: number;
  /** The folder (absolute) that holds one adapter per version. */
  readonly versions: string;
  readonly from?: RemoteState | undefined;
  /** What the server costs, and who pays. Absent: nothing is counted. */
  readonly account?: ServerAccount | undefined;
  /** Has no model on the server: it samples from versions that another machine saved. */
  readonly samplesOnly?: boolean | undefined;
  /** How many versions stay on the server, for machines that still sample from those before the latest; 1 where absent. */
  readonly versionsKept?: number | undefined;
}

/** A change of the model on the server. */
type Change<T> = (model: RemoteModel, signal: AbortSignal | undefined) => Promise<T>;

/** Samples under way at once. The server batches them. */
const AT_ONCE = 64;
/**
 * The API's own defaults, but for epsilon, which is PyTorch's. SkyRL computes its steps in the type of the weights: beta2 = 0.999 is 1 in
 * bfloat16, and the first step divides 0 by 0.
 */
export const REMOTE_ADAM = { beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weightDecay: 0 } as const;
/** States that are kept on the server: a training keeps its last two, and one more until the next is written. */
const STATES_KEPT = 3;
/** How often a call is made on a new model when the server loses one. */
const TRIES = 3;

/**
 * Trains an adapter on a server with Tinker's API. Where the server has lost the model, or where it is not known whether a call was carried
 * out, the model is thrown away: a new one gets the weights that were saved last and then each change since. So no batch counts twice.
 */
export class RemoteEngine implements TrainEngine, SharedModel {
  readonly #options: RemoteEngineOptions;
  #model: RemoteModel | undefined;
  /** A model that is being made, for which calls at the same time wait. */
  #opening: Promise<RemoteModel> | undefined;
  /** Where the server keeps the weights and the optimizer's state; undefined before the first time. */
  #saved: string | undefined;
  /** The same of states before, newest first. */
  #earlier: readonly string[];
  /** What the model has done since then, in order. */
  #since: Change<unknown>[] = [];
  /** Where the server keeps the latest version; undefined where that is the model as it was. */
  #sampler: string | undefined;
  /** The same of versions before that stay there, newest first. */
  #samplersBefore: readonly string[] = [];
  /** As `RemoteEngineOptions.samplesOnly`, until it is to sample alone. */
  #samplesOnly: boolean;
  /** Makes the weights the version that is sampled from. */
  #sampled: Change<string> | undefined;
  /** A model that is never trained. */
  #reference: RemoteModel | undefined;
  #left: string | undefined;

  constructor(options: RemoteEngineOptions) {
    this.#options = options;
    this.#saved = options.from?.weights;
    this.#earlier = options.from?.earlier ?? [];
    this.#sampler = options.from?.sampler;
    this.#samplersBefore = options.from?.samplersBefore ?? [];
    this.#samplesOnly = options.samplesOnly ?? false;
    if (options.from?.sampler !== undefined && !this.#samplesOnly) this.#since = [this.#sampledAs('resumed')];
    this.#left = options.from?.model;
  }

  get model(): string {
    return this.#options.model.baseModel;
  }

  get vocabulary(): number {
    return this.#options.config.vocabularySize;
  }

  get contextLength(): number {
    return this.#options.contextLength;
  }

  get latest(): string | undefined {
    return this.#sampler;
  }

  get saved(): string | undefined {
    return this.#saved;
  }

  sampleFrom(version: string | undefined, weights: string | undefined): void {
    [this.#sampler, this.#saved] = [version, weights];
  }

  sampleAlone(): void {
    if (!this.#samplesOnly || this.#saved === undefined) return;
    this.#samplesOnly = false;
    // That one is the other machine's to remove.
    this.#sampler = undefined;
    this.#since = [this.#sampledAs('compared')];
  }

  async renew(signal?: AbortSignal): Promise<void> {
    const { client, model: { seed } } = this.#options;
    // A token is enough to see whether it is there.
    if (this.#sampled) await this.#from(undefined, signal, (from) => client.sample({ from, prompt: [0], maxTokens: 1, temperature: 1, stopTokens: [], seed, signal }));
  }

  /** Has the server make the model, so that what is wrong is known before a worker is paid. @throws RemoteError */
  async begin(signal?: AbortSignal): Promise<void> {
    await this.#with(async () => {}, signal);
  }

  async hasRoom(prompt: Prompt, tokens: number): Promise<boolean> {
    return this.#encoded(prompt).length + tokens <= this.#options.contextLength;
  }

  async sample({ messages, prefill = '', maxTokens, temperature, seeds, version, signal }: SampleRequest): Promise<readonly SampledCompletion[]> {
    const { client, tokenizer, contextLength, account } = this.#options;
    const prompt = this.#encoded({ messages, prefill });
    const room = contextLength - prompt.length;
    if (room <= 0) throw new RangeError(`The messages have ${prompt.length} tokens and the model reads at most ${contextLength}, its answer included: give it less to read.`);
    const stops = new Set(tokenizer.stopTokenIds);
    const most = Math.min(maxTokens, room);
    const sampleAll = (from: SampleOrder['from']): Promise<SampledCompletion[]> => mapInOrder(seeds, AT_ONCE, async (seed): Promise<SampledCompletion> => {
      const { tokens, logprobs, stopReason } = await client.sample({ from, prompt, maxTokens: most, temperature, stopTokens: tokenizer.stopTokenIds, seed, signal });
      const shown = stops.has(tokens.at(-1) ?? -1) ? tokens.slice(0, -1) : tokens;
      return { promptTokens: prompt, tokens, logprobs, text: prefill + tokenizer.decode(shown, { skipSpecial: true, continues: prefill !== '' }), finishReason: stopReason };
    });
    if (!account) return await this.#from(version, signal, sampleAll);
    const usd = (sample: number): number => priceOf({ prefill: prompt.length * seeds.length, sample }, account.price);
    // What a new model is asked again after a loss is paid for again: the server may bill both.
    return await this.#from(version, signal, (from) => account.pay(usd(most * seeds.length), () => sampleAll(from), (samples) => usd(samples.reduce((sum, { tokens }) => sum + tokens.length, 0)), signal));
  }

  /** For learning from texts, whose examples have weights: SkyRL divides by these, so that they would not count. @throws RemoteError */
  encode(): Promise<never> {
    return Promise.reject(new RemoteError('refused', 'A training server cannot learn from plans that somebody else wrote: set "engine" to "local" for that.'));
  }

  /** At a temperature of 1: servers know no other. */
  async forward(
    batch: readonly TokenExample[], _temperature: number, signal?: AbortSignal, version?: SampleRequest['version'],
  ): Promise<readonly (readonly number[])[]> {
    if (version === 'initial') return await this.#referenceLogprobs(batch, signal);
    const { logprobs } = await this.#with((model) => model.forwardBackward({ ...forwardBatch(batch), forwardOnly: true }, signal), signal);
    return ofCompletions(batch, logprobs);
  }

  async forwardBackward(loss: PolicyLoss | CrossEntropyLoss, batch: readonly Example[], signal?: AbortSignal): Promise<ForwardBackwardOutput> {
    if (loss.type === 'cross_entropy') {
      const { weight = 1 } = loss;
      const logprobs = await this.#gradients(batch, crossEntropyBatch(batch, weight), signal);
      const all = logprobs.flat();
      return { loss: -weight * all.reduce((sum, value) => sum + value, 0) / all.length, logprobs };
    }
    const old = isOnPolicy(batch) ? await this.forward(batch, 1, signal) : batch.map(({ oldLogprobs = [] }) => oldLogprobs);
    const reference = loss.klCoefficient === 0 ? undefined : await this.#referenceLogprobs(batch, signal);
    const logprobs = await this.#gradients(batch, serverBatch(loss, batch, { old, reference }), signal);
    return { loss: lossValue(loss, batch, { logprobs, old, reference }), logprobs, ...(reference && { referenceLogprobs: reference }) };
  }

  optimStep(step: { readonly learningRate: number; readonly gradientClip: number }): Promise<{ readonly gradientNorm?: number | undefined }> {
    return this.#change((model, signal) => model.optimStep({ ...REMOTE_ADAM, ...step }, signal));
  }

  async saveForSampler(name: string): Promise<void> {
    const { client, versions, model: { baseModel }, config } = this.#options;
    const samplerPath = this.#samplesOnly ? this.#sampler : await this.#change(this.#sampledAs(name));
    if (samplerPath === undefined) throw new TypeError('There is no version to bring home yet.');
    await bringHome(client, { samplerPath, folder: path.join(versions, name), baseModel, config });
  }

  /** To be called after `saveForSampler`, with the same weights. */
  async saveState(folder: string): Promise<void> {
    const weights = this.#samplesOnly ? this.#saved : await this.#with((model, signal) => model.saveWeights(path.basename(path.dirname(folder)).slice(0, 32).replaceAll(/[^\w-]/g, '-'), signal));
    const states = this.#samplesOnly || this.#saved === undefined ? this.#earlier : [this.#saved, ...this.#earlier];
    const state: RemoteState = { format: 1, weights, sampler: this.#sampler, samplersBefore: [...this.#samplersBefore], earlier: states.slice(0, STATES_KEPT - 1), model: this.#model?.id };
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, STATE_FILE), JSON.stringify(state));
    this.#saved = weights;
    this.#earlier = state.earlier;
    for (const old of states.slice(STATES_KEPT - 1)) await this.#options.client.remove(old, 'weights');
    this.#since = this.#sampled ? [this.#sampled] : [];
  }

  /** Frees the places on the server. What was saved there last stays. Never rejects. */
  async close(): Promise<void> {
    await Promise.all([this.#model?.unload(), this.#reference?.unload()]);
    this.#options.client.close();
  }

  #encoded({ messages, prefill = '' }: Prompt): number[] {
    return this.#options.tokenizer.chat(messages, { prefill });
  }

  async #gradients(batch: readonly Example[], order: ReturnType<typeof serverBatch>, signal?: AbortSignal): Promise<readonly (readonly number[])[]> {
    const { logprobs } = await this.#change((model, current) => model.forwardBackward(order, current), signal);
    return ofCompletions(batch, logprobs);
  }

  /** Of a fresh adapter, which computes what the model without one does. */
  async #referenceLogprobs(batch: readonly TokenExample[], signal?: AbortSignal): Promise<readonly (readonly number[])[]> {
    const { client, model, account } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const reference = this.#reference ?? new RemoteModel(client, await client.createModel(model, signal), account);
        this.#reference = reference;
        const { logprobs } = await reference.forwardBackward({ ...forwardBatch(batch), forwardOnly: true }, signal);
        return ofCompletions(batch, logprobs);
      } catch (error) {
        this.#reference = undefined;
        if (!isLost(error) || attempt === TRIES) throw error;
      }
    }
  }

  /** Makes a change, which a new model is given, too, until the weights are saved. */
  async #change<T>(change: Change<T>, signal?: AbortSignal): Promise<T> {
    const result = await this.#with(change, signal);
    this.#since.push(change);
    return result;
  }

  /** SkyRL samples from versions of models that it has loaded. So a new model saves a version of its own. */
  #sampledAs(name: string): Change<string> {
    return (this.#sampled = async (model, signal) => {
      const { client, versionsKept = 1 } = this.#options;
      const before = [...(this.#sampler === undefined ? [] : [this.#sampler]), ...this.#samplersBefore];
      this.#sampler = await model.saveForSampler(name, signal);
      this.#samplersBefore = before.slice(0, versionsKept - 1);
      for (const old of before.slice(versionsKept - 1)) await client.remove(old, 'sampler_weights');
      return this.#sampler;
    });
  }

  /** Samples from a version; where its model is lost, from the same version of a new one. */
  async #from<T>(version: SampleRequest['version'], signal: AbortSignal | undefined, sample: (from: SampleOrder['from']) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const model = version === 'initial' || this.#samplesOnly || !this.#sampled ? undefined : await this.#present(signal);
      const modelPath = version === 'initial' ? undefined : this.#sampler;
      try {
        return await sample(modelPath === undefined ? { baseModel: this.#options.model.baseModel } : { modelPath });
      } catch (error) {
        // Only the machine that trains the model can make it anew.
        if (!isLost(error) || attempt === TRIES || (this.#samplesOnly && modelPath !== undefined)) throw error;
        if (model) await this.#drop(model);
      }
    }
  }

  /** Calls the model on the server; where it is lost, a new one in its state. */
  async #with<T>(call: Change<T>, signal?: AbortSignal): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      let model: RemoteModel | undefined;
      try {
        model = await this.#present(signal);
        return await call(model, signal);
      } catch (error) {
        // How much of it was done is not known: gradients may be there in part.
        if (model) await this.#drop(model);
        if (!isLost(error) || attempt === TRIES) throw error;
      }
    }
  }

  /** The model, made anew where it was lost. */
  async #present(signal: AbortSignal | undefined): Promise<RemoteModel> {
    if (this.#model) return this.#model;
    this.#opening ??= this.#restored(signal).finally(() => (this.#opening = undefined));
    return (this.#model = await this.#opening);
  }

  /** Another call may have made a new one by now, which stays. */
  async #drop(model: RemoteModel): Promise<void> {
    await model.unload();
    if (this.#model === model) this.#model = undefined;
  }

  async #restored(signal: AbortSignal | undefined): Promise<RemoteModel> {
    const { client, model: order, account } = this.#options;
    // What an earlier process left would hold its place for another five minutes.
    if (this.#left !== undefined) await client.unload(this.#left);
    this.#left = undefined;
    const model = new RemoteModel(client, await client.createModel(order, signal), account);
    try {
      if (this.#saved !== undefined) await this.#load(model, this.#saved, signal);
      for (const change of this.#since) await change(model, signal);
      return model;
    } catch (error) {
      await model.unload();
      throw error;
    }
  }

  async #load(model: RemoteModel, weights: string, signal: AbortSignal | undefined): Promise<void> {
    try {
      await model.loadWeights(weights, signal);
    } catch (error) {
      if (!(error instanceof RemoteError) || error.kind !== 'gone' || error.status !== 404) throw error;
      const server = this.#options.client.http.server;
      throw new RemoteError('refused', `The training server ${server} does not have the weights ${weights} any more: start another training, or restore its checkpoints and resume.`, { cause: error });
    }
  }
}

const isLost = (error: unknown): boolean => error instanceof RemoteError && (error.kind === 'gone' || error.kind === 'unclear');
