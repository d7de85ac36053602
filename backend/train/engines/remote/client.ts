import type * as z from 'zod';
import { decodeSampleResult, type SampleResult } from './messages/gradient-messages.ts';
import { type Answer, type Call, Http, type HttpOptions } from './http.ts';
import { RemoteError } from './remote-error.ts';
import { capabilitiesSchema, futureSchema, modelSchema, sampleSchema, sessionSchema } from './replies.ts';

/** As the SDK sends it; SkyRL ends a session that was not heard of for 300 seconds. */
const HEARTBEAT_MS = 10_000;

/** The version of the SDK whose wire this speaks. */
const SDK_VERSION = '0.25.0';

/** Part of each path. */
const API = 'api/v1';

export interface NewModel {
  readonly baseModel: string;
  readonly rank: number;
  /** The server draws the new adapter from it. */
  readonly seed: number;
}

export interface SampleOrder {
  /** What to sample from: the weights under a `tinker://` path, or a model without an adapter. */
  readonly from: { readonly modelPath: string } | { readonly baseModel: string };
  readonly prompt: readonly number[];
  readonly maxTokens: number;
  readonly temperature: number;
  readonly stopTokens: readonly number[];
  readonly seed: number;
  readonly signal?: AbortSignal | undefined;
}

/** What a call asks for, and how its answer is read. */
export type ApiCall = Omit<Call, 'path' | 'method'> & { readonly method?: Call['method'] };

/**
 * A client of Tinker's HTTP API, as SkyRL 0.3.0 and 0.4.0 serve it. Makes a session when one is needed, and keeps it alive until it is
 * closed. All methods throw RemoteError and the signal's reason.
 */
export class TinkerClient {
  readonly http: Http;
  #session: { readonly id: string; readonly heartbeat: NodeJS.Timeout; models: number } | undefined;

  constructor(options: HttpOptions) {
    this.http = new Http(options);
  }

  /** The models that the server can train. */
  async models(signal?: AbortSignal): Promise<readonly string[]> {
    const answer = await this.call('get_server_capabilities', { method: 'GET', isRepeatable: true, signal });
    return this.read(answer, capabilitiesSchema).supported_models.map(({ model_name }) => model_name);
  }

  /** The id of a new adapter, which changes nothing yet. A session that the server forgot is replaced. */
  async createModel({ baseModel, rank, seed }: NewModel, signal?: AbortSignal): Promise<string> {
    for (let isKnown = this.#session !== undefined; ; isKnown = false) {
      const session = await this.#open(signal);
      try {
        const answer = await this.call('create_model', {
          // Asked twice, it would make two models. The first would go with the session.
          isRepeatable: false, signal,
          body: { session_id: session.id, model_seq_id: session.models++, base_model: baseModel, lora_config: { rank, seed: seed & 0x7fff_ffff }, type: 'create_model' },
        });
        const { model_id: modelId, request_id: requestId } = this.read(answer, modelSchema);
        if (requestId !== undefined) await this.result(requestId, signal);
        return modelId;
      } catch (error) {
        if (!(error instanceof RemoteError) || !(error.kind === 'gone' || error.kind === 'unclear')) throw error;
        this.#end();
        if (!isKnown) throw error;
      }
    }
  }

  /** Frees a model's place. Never rejects: the server does so itself when the session has ended. */
  async unload(modelId: string): Promise<void> {
    await this.call('unload_model', { isRepeatable: false, isPatient: false, body: { model_id: modelId, type: 'unload_model' }, timeoutMs: 5_000 }).catch(() => {});
  }

  /** Removes what a model saved under a `tinker://` path. Never rejects: SkyRL 0.3.0 cannot, and what stays takes only its disk. */
  async remove(saved: string, kind: 'weights' | 'sampler_weights'): Promise<void> {
    const [run = '', ...rest] = saved.slice('tinker://'.length).split('/');
    await this.call(`training_runs/${run}/checkpoints/${kind}/${rest.at(-1) ?? ''}`, { method: 'DELETE', isRepeatable: false, isPatient: false, timeoutMs: 10_000 }).catch(() => {});
  }

  /** One completion. The log-probabilities are those at a temperature of 1. */
  async sample({ from, prompt, maxTokens, temperature, stopTokens, seed, signal }: SampleOrder): Promise<SampleResult['sequences'][number]> {
    const answer = await this.call('asample', {
      isRepeatable: true, signal,
      body: {
        ...('modelPath' in from ? { model_path: from.modelPath } : { base_model: from.baseModel }),
        num_samples: 1,
        prompt: { chunks: [{ type: 'encoded_text', tokens: prompt }] },
        sampling_params: { max_tokens: maxTokens, temperature, seed: seed & 0x7fff_ffff, top_p: 1, top_k: -1, stop: stopTokens },
        type: 'sample',
      },
    });
    const result = await this.result(this.read(answer, futureSchema).request_id, signal);
    const [sequence] = this.#samples(result).sequences;
    if (!sequence || sequence.tokens.length !== sequence.logprobs.length) throw this.malformed('a sample without a log-probability for each token');
    this.requireNumbers(sequence.logprobs);
    return sequence;
  }

  /** The result of a call that is answered later. 408 means: ask again. */
  async result(requestId: string, signal?: AbortSignal): Promise<Answer> {
    for (;;) {
      try {
        const answer = await this.call('retrieve_future', { isRepeatable: false, signal, body: { request_id: requestId }, takes: [408] });
        if (answer.status !== 408) return answer;
      } catch (error) {
        // 500: the work itself failed.
        if (!(error instanceof RemoteError) || error.kind !== 'unclear' || error.status === 500) throw error;
        // Long work, or a lost connection: the server, if it is there, knows the result.
        await this.call('healthz', { method: 'GET', isRepeatable: true, signal, takes: [404] });
      }
    }
  }

  call(path: string, { method = 'POST', ...call }: ApiCall): Promise<Answer> {
    return this.http.call({ ...call, method, path: `${API}/${path}` });
  }

  /** The JSON of an answer. */
  read<T extends z.ZodType>({ bytes }: Answer, schema: T): z.output<T> {
    let json: unknown;
    try {
      json = JSON.parse(new TextDecoder().decode(bytes));
    } catch (error) {
      throw this.malformed('no JSON', error);
    }
    const parsed = schema.safeParse(json);
    if (parsed.success) return parsed.data;
    throw this.malformed(`an answer that is not as expected at ${parsed.error.issues[0]?.path.join('.') || 'its top'}`, parsed.error);
  }

  /** @throws RemoteError where the model has broken down */
  requireNumbers(logprobs: readonly number[]): void {
    if (logprobs.every(Number.isFinite)) return;
    throw new RemoteError('refused', `The training server ${this.http.server} computes log-probabilities that are no numbers: lower "learningRate.peak" and start again, or ask whoever runs the server.`);
  }

  malformed(what: string, cause?: unknown): RemoteError {
    return new RemoteError('malformed', `The training server ${this.http.server} sends ${what}: check that "engine.url" is that of a server with Tinker's API.`, { cause });
  }

  /** Ends the heartbeat. The server ends the session later, with its models. */
  close(): void {
    this.#end();
  }

  #samples(answer: Answer): SampleResult {
    if (answer.isProtobuf) return this.decoded(() => decodeSampleResult(answer.bytes));
    const { sequences } = this.read(answer, sampleSchema);
    return { sequences: sequences.map(({ tokens, logprobs, stop_reason }) => ({ tokens, logprobs, stopReason: stop_reason })) };
  }

  /** A message of Protocol Buffers. */
  decoded<T>(decode: () => T): T {
    try {
      return decode();
    } catch (error) {
      throw this.malformed('a message that cannot be read', error);
    }
  }

  async #open(signal?: AbortSignal) {
    if (this.#session) return this.#session;
    const body = { tags: ['conductor'], user_metadata: {}, sdk_version: SDK_VERSION, type: 'create_session' };
    const { session_id: id } = this.read(await this.call('create_session', { isRepeatable: true, signal, body }), sessionSchema);
    const heartbeat = setInterval(() => {
      // What comes of a lost session, the next call of its model tells.
      this.call('session_heartbeat', { isRepeatable: false, isPatient: false, body: { session_id: id, type: 'session_heartbeat' } }).catch(() => {});
    }, HEARTBEAT_MS);
    heartbeat.unref();
    return (this.#session = { id, heartbeat, models: 0 });
  }

  #end(): void {
    clearInterval(this.#session?.heartbeat);
    this.#session = undefined;
  }
}
