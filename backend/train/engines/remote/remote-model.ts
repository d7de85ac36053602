import { randomBytes } from 'node:crypto';
import type { Pay } from '../engine-start.ts';
import type { TinkerClient } from './client.ts';
import { type Datum, decodeGradientResult, encodeGradientRequest, type GradientResult, type ServerLoss } from './messages/gradient-messages.ts';
import type { Answer } from './http.ts';
import { RemoteError } from './remote-error.ts';
import { priceOf, type ServerPrice } from './server-price.ts';
import { futureSchema, gradientSchema, savedSchema, stepSchema } from './replies.ts';

export interface GradientOrder {
  readonly data: readonly Datum[];
  readonly loss: ServerLoss;
  readonly lossOptions?: Readonly<Record<string, number>> | undefined;
  /** Only log-probabilities, no gradients. */
  readonly forwardOnly?: boolean | undefined;
}

export interface ServerAccount {
  readonly price: ServerPrice;
  readonly pay: Pay;
}

export interface AdamOrder {
  readonly learningRate: number;
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;
  readonly weightDecay: number;
  /** SkyRL has no clipping and ignores it. */
  readonly gradientClip: number;
}

/** The tokens of one request. More examples go into further requests: their gradients are added up. */
const TOKENS_AT_ONCE = 65_536;

/**
 * An adapter that the server trains. Its calls are numbered; a number is used for one body alone, so that a server that has seen it (SkyRL
 * from 0.4.0 on, and Tinker) answers a call that is sent again with the result of the first. Call one method at a time.
 */
export class RemoteModel {
  readonly id: string;
  readonly #client: TinkerClient;
  readonly #account: ServerAccount | undefined;
  #sequence = 0;
  /** Examples whose gradients the next step uses. */
  #examples = 0;
  /** Undefined until the server has taken one of the two. */
  #speaks: 'protobuf' | 'json' | undefined;

  constructor(client: TinkerClient, id: string, account?: ServerAccount) {
    this.#client = client;
    this.id = id;
    this.#account = account;
  }

  /** Adds the gradients of a loss, the sum over all tokens, to those of the next step. @throws RemoteError, what paying throws, the signal's reason */
  async forwardBackward(order: GradientOrder, signal?: AbortSignal): Promise<GradientResult> {
    if (!this.#account) return await this.#compute(order, signal);
    const { price, pay } = this.#account;
    const tokens = order.data.reduce((sum, datum) => sum + datum.tokens.length, 0);
    const usd = priceOf(order.forwardOnly ? { prefill: tokens } : { train: tokens }, price);
    return await pay(usd, () => this.#compute(order, signal), () => usd, signal);
  }

  async #compute(order: GradientOrder, signal?: AbortSignal): Promise<GradientResult> {
    const logprobs: (readonly number[])[] = [];
    const metrics: Record<string, number> = {};
    for (const data of parts(order.data)) {
      const answer = await this.#send({ ...order, data }, signal);
      const result = await this.#client.result(this.#client.read(answer, futureSchema).request_id, signal);
      const found = this.#gradients(result);
      if (found.logprobs.length !== data.length || found.logprobs.some((row, index) => row.length !== data[index]!.targets.length)) {
        throw this.#client.malformed('log-probabilities of other tokens than were sent');
      }
      this.#client.requireNumbers(found.logprobs.flat());
      logprobs.push(...found.logprobs);
      if (!order.forwardOnly) this.#examples += data.length;
      for (const [name, value] of Object.entries(found.metrics)) metrics[name] = (metrics[name] ?? 0) + value;
    }
    return { logprobs, metrics };
  }

  /** @returns the norm of the gradients before the step, where the server tells it */
  async optimStep({ learningRate, beta1, beta2, epsilon, weightDecay, gradientClip }: AdamOrder, signal?: AbortSignal): Promise<{ readonly gradientNorm: number | undefined }> {
    const adam = { learning_rate: learningRate, beta1, beta2, eps: epsilon, weight_decay: weightDecay, grad_clip_norm: gradientClip };
    const { metrics } = this.#client.read(await this.#ordered('optim_step', { adam_params: adam, type: 'optim_step' }, signal), stepSchema);
    const [name = '', norm] = Object.entries(metrics ?? {}).find(([one]) => /(?:^|[/:_])grad_norm(?:$|:)/.test(one)) ?? [];
    // SkyRL's gradient is the mean over examples.
    const times = name.startsWith('skyrl.ai/') ? this.#examples : 1;
    this.#examples = 0;
    return { gradientNorm: typeof norm === 'number' ? norm * times : undefined };
  }

  /** Saves weights and the optimizer's state. @returns the path to load them from */
  saveWeights(name: string, signal?: AbortSignal): Promise<string> {
    return this.#save('save_weights', name, signal);
  }

  /** Saves the weights to sample from. @returns the path to name in `sample` */
  saveForSampler(name: string, signal?: AbortSignal): Promise<string> {
    return this.#save('save_weights_for_sampler', name, signal);
  }

  /** Weights and optimizer of another model of this rank. The server allows it before any other call only. */
  async loadWeights(path: string, signal?: AbortSignal): Promise<void> {
    await this.#ordered('load_weights', { path, optimizer: true, type: 'load_weights' }, signal, false);
  }

  /** Frees the model's place. Never rejects. */
  unload(): Promise<void> {
    return this.#client.unload(this.id);
  }

  async #ordered(verb: string, body: Readonly<Record<string, unknown>>, signal?: AbortSignal, isRepeatable = this.#knowsNumbers): Promise<Answer> {
    const numbered = { model_id: this.id, seq_id: (this.#sequence += 1), ...body };
    const answer = await this.#client.call(verb, { isRepeatable, signal, body: numbered });
    return await this.#client.result(this.#client.read(answer, futureSchema).request_id, signal);
  }

  /** SkyRL 0.3.0, which takes gradients as JSON, does not compare numbers: a step that is sent twice is made twice. */
  get #knowsNumbers(): boolean {
    return this.#speaks === 'protobuf';
  }

  async #save(verb: 'save_weights' | 'save_weights_for_sampler', name: string, signal?: AbortSignal): Promise<string> {
    for (let attempt = 1; ; attempt += 1) {
      // Saving again does no harm, under another name.
      const path = `${name}-${randomBytes(4).toString('hex')}`;
      try {
        const saved = this.#client.read(await this.#ordered(verb, { path, type: verb }, signal, true), savedSchema);
        return saved.path;
      } catch (error) {
        if (!(error instanceof RemoteError) || error.kind !== 'conflict' || attempt === 3) throw error;
      }
    }
  }

  async #send(order: GradientOrder, signal?: AbortSignal): Promise<Answer> {
    const sequence = (this.#sequence += 1);
    const asProtobuf = (): Promise<Answer> => {
      const body = encodeGradientRequest({ ...order, modelId: this.id, sequence, forwardOnly: order.forwardOnly ?? false });
      return this.#client.call('forward_backward', { body, isRepeatable: true, signal });
    };
    if (this.#speaks === 'protobuf') return await asProtobuf();
    try {
      // JSON first: SkyRL 0.3.0 fails with 500 on bytes, while later versions refuse JSON before they do anything: 415, or 404 and 405 where
      // there is no path for log-probabilities alone.
      const answer = await this.#sendJson(order, sequence, signal);
      this.#speaks = 'json';
      return answer;
    } catch (error) {
      if (!(error instanceof RemoteError) || ![404, 405, 415].includes(error.status ?? 0)) throw error;
    }
    const answer = await asProtobuf();
    this.#speaks = 'protobuf';
    return answer;
  }

  #sendJson({ data, loss, lossOptions, forwardOnly = false }: GradientOrder, sequence: number, signal?: AbortSignal): Promise<Answer> {
    const input = {
      loss_fn: loss,
      ...(lossOptions && { loss_fn_config: lossOptions }),
      data: data.map(({ tokens, targets, inputs }) => ({
        model_input: { chunks: [{ type: 'encoded_text', tokens }] },
        loss_fn_inputs: Object.fromEntries(Object.entries({ target_tokens: targets, ...inputs }).map(([name, values]) => [name, { data: values }])),
      })),
    };
    const verb = forwardOnly ? 'forward' : 'forward_backward';
    return this.#client.call(verb, { isRepeatable: forwardOnly, signal, body: { model_id: this.id, seq_id: sequence, [`${verb}_input`]: input } });
  }

  #gradients(answer: Answer): GradientResult {
    if (answer.isProtobuf) return this.#client.decoded(() => decodeGradientResult(answer.bytes));
    const { loss_fn_outputs: outputs, metrics } = this.#client.read(answer, gradientSchema);
    const told = Object.entries(metrics ?? {}).filter((entry): entry is [string, number] => entry[1] !== null);
    return { logprobs: outputs.map(({ logprobs }) => logprobs.data), metrics: Object.fromEntries(told) };
  }
}

/** Parts of so many tokens that a request stays small, with at least one example each. */
function parts(data: readonly Datum[]): readonly (readonly Datum[])[] {
  const found: Datum[][] = [];
  let tokens = Infinity;
  for (const datum of data) {
    if (tokens + datum.tokens.length > TOKENS_AT_ONCE) {
      found.push([]);
      tokens = 0;
    }
    found.at(-1)!.push(datum);
    tokens += datum.tokens.length;
  }
  return found;
}
