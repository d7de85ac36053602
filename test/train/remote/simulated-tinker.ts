import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

/*
 * A simulation of a server with Tinker's API, with the paths, statuses and sentences of SkyRL 0.3.0 (`json`) and 0.4.0 (`protobuf`). It has no
 * model: the weights of an adapter are the list of what was done to it, and each log-probability is −1.
 */

interface Model {
  /** What has changed the weights, in order. */
  weights: string[];
  /** Gradients of the next step. */
  gradients: string[];
  /** Results by the number of the call. */
  readonly seen: Map<number, { readonly body: string; readonly request: string }>;
  calls: number;
}

/** What becomes of a call: it is done and the connection breaks, it finds a status, or it is answered. */
export type Fate = 'breaks' | { readonly status: number; readonly detail: string } | undefined;

/** What of a request for a sample decides what is written. */
export interface SampleOrder {
  readonly seed: number;
  readonly prompt: readonly number[];
  /** Undefined for the model without an adapter. */
  readonly path: string | undefined;
}

export interface SimulatedTinkerOptions {
  readonly speaks: 'json' | 'protobuf';
  readonly places?: number;
  /** The tokens of a sample; each has the log-probability −1. */
  readonly tokens?: (order: SampleOrder) => readonly number[];
  /** What every adapter is downloaded as: a tar archive, compressed. */
  readonly archive?: Uint8Array | undefined;
  /** Called for each call with its verb, before it is done. */
  readonly fate?: (verb: string) => Fate;
}

export class SimulatedTinker {
  readonly models = new Map<string, Model>();
  readonly saved = new Map<string, string[]>();
  readonly calls: { readonly verb: string; readonly body: Record<string, unknown>; readonly key: string | undefined }[] = [];
  fate: NonNullable<SimulatedTinkerOptions['fate']>;
  readonly #options: SimulatedTinkerOptions;
  readonly #server: Server;
  readonly #results = new Map<string, { readonly json: unknown; readonly bytes?: Uint8Array; readonly status?: number }>();
  readonly #sessions = new Set<string>();
  #next = 0;

  private constructor(options: SimulatedTinkerOptions) {
    this.#options = options;
    this.fate = options.fate ?? (() => undefined);
    this.#server = createServer((request, response) => void this.#answer(request, response).catch(() => response.destroy()));
  }

  static async start(options: SimulatedTinkerOptions): Promise<SimulatedTinker> {
    const tinker = new SimulatedTinker(options);
    await new Promise<void>((resolve) => tinker.#server.listen(0, '127.0.0.1', resolve));
    return tinker;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** As after a restart: what was saved is there, models and sessions are not. */
  forget(): void {
    this.models.clear();
    this.#sessions.clear();
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const verb = (request.url ?? '').slice('/api/v1/'.length);
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const bytes = Buffer.concat(parts);
    const isProtobuf = request.headers['content-type'] === 'application/x-protobuf';
    const send = (status: number, json: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(json));
    };
    if (verb === 'forward_backward' && isProtobuf !== (this.#options.speaks === 'protobuf')) return send(415, { detail: 'forward_backward requires another body' });
    if (verb === 'forward' && this.#options.speaks === 'protobuf') return send(404, { detail: 'Not Found' });
    if (this.#options.archive && /^training_runs\/.*\/archive$/.test(verb)) return void response.writeHead(200, { 'content-type': 'application/gzip' }).end(this.#options.archive);
    if (request.method === 'DELETE') return this.#options.speaks === 'protobuf' && this.saved.delete(verb.replace(/^training_runs\/([^/]+)\/checkpoints\//, 'tinker://$1/')) ? void response.writeHead(204).end() : send(404, { detail: 'Not Found' });
    const body = bytes.length === 0 ? {} : isProtobuf ? gradientBody(bytes) : JSON.parse(bytes.toString()) as Record<string, unknown>;
    this.calls.push({ verb, body, key: request.headers['x-api-key'] as string | undefined });
    const fate = this.fate(verb);
    if (typeof fate === 'object') return send(fate.status, { detail: fate.detail });
    const [status, json] = this.#do(verb, body, bytes.toString('latin1'));
    if (fate === 'breaks') return void response.destroy();
    const result = verb === 'retrieve_future' ? this.#results.get(String(body['request_id'])) : undefined;
    if (result?.bytes) {
      response.writeHead(200, { 'content-type': 'application/x-protobuf' });
      return void response.end(result.bytes);
    }
    send(status, json);
  }

  #do(verb: string, body: Record<string, unknown>, raw: string): [number, unknown] {
    const later = (json: unknown, bytes?: Uint8Array, status?: number): [number, unknown] => {
      const id = String((this.#next += 1));
      this.#results.set(id, { json, ...(bytes && { bytes }), ...(status !== undefined && { status }) });
      return [200, { request_id: id, future_id: id, status: 'pending' }];
    };
    if (verb === 'healthz') return [200, { status: 'ok' }];
    if (verb === 'get_server_capabilities') return [200, { supported_models: [{ model_name: 'small' }] }];
    if (verb === 'session_heartbeat') return [200, {}];
    if (verb === 'retrieve_future') {
      const result = this.#results.get(String(body['request_id']));
      return result ? [result.status ?? 200, result.json] : [404, { detail: 'Future not found' }];
    }
    if (verb === 'create_session') {
      const id = `session_${this.#next += 1}`;
      this.#sessions.add(id);
      return [200, { session_id: id }];
    }
    if (verb === 'create_model') {
      if (!this.#sessions.has(String(body['session_id']))) return [404, { detail: 'Session not found' }];
      const id = `model_${this.#next += 1}`;
      const isFull = this.models.size >= (this.#options.places ?? 3);
      if (!isFull) this.models.set(id, { weights: [], gradients: [], seen: new Map(), calls: 0 });
      const [, future] = isFull ? later({ detail: 'Maximum number of LoRA adapters (4) reached' }, undefined, 400) : later({ model_id: id });
      return [200, { model_id: id, request_id: (future as { request_id: string }).request_id }];
    }
    if (verb === 'unload_model') {
      this.models.delete(String(body['model_id']));
      return later({});
    }
    if (verb === 'asample') {
      const [, id] = /^tinker:\/\/([^/]+)/.exec(String(body['model_path'] ?? '')) ?? [];
      if (id !== undefined && !this.models.has(id)) return later({ detail: `Model ${id} not loaded` }, undefined, 400);
      const tokens = this.#options.tokens?.(sampleOrder(body)) ?? [7, 9];
      const result = { sequences: [{ stop_reason: 'stop', tokens, logprobs: tokens.map(() => -1) }] };
      return later(result, this.#options.speaks === 'protobuf' ? sampleBytes(tokens) : undefined);
    }
    const model = this.models.get(String(body['model_id']));
    if (!model) return later({ detail: `Model ${String(body['model_id'])} not loaded (likely stale request from previous server)` }, undefined, 400);
    return this.#train(model, verb, body, raw, later);
  }

  #train(model: Model, verb: string, body: Record<string, unknown>, raw: string, later: (json: unknown, bytes?: Uint8Array) => [number, unknown]): [number, unknown] {
    const number = Number(body['seq_id']);
    const seen = this.#options.speaks === 'protobuf' ? model.seen.get(number) : undefined;
    if (seen) return seen.body === raw ? [200, { request_id: seen.request }] : [409, { detail: 'Training request sequence number was reused' }];
    const done = (answer: [number, unknown]): [number, unknown] => {
      model.calls += 1;
      model.seen.set(number, { body: raw, request: (answer[1] as { request_id: string }).request_id });
      return answer;
    };
    switch (verb) {
      case 'load_weights': {
        if (model.calls > 0) return [400, { detail: 'LoadWeights is not permitted' }];
        const weights = this.saved.get(String(body['path']));
        if (!weights) return [404, { detail: 'Checkpoint not found' }];
        model.weights = [...weights];
        return done(later({}));
      }
      case 'save_weights':
      case 'save_weights_for_sampler': {
        const path = `tinker://${String(body['model_id'])}/${verb === 'save_weights' ? 'weights' : 'sampler_weights'}/${String(body['path'])}`;
        if (this.saved.has(path)) return [409, { detail: 'Checkpoint already exists' }];
        this.saved.set(path, [...model.weights]);
        return done(later({ path }));
      }
      case 'optim_step':
        model.weights.push(`step(${model.gradients.join('+')})`);
        model.gradients = [];
        return done(later({ metrics: { 'skyrl.ai/grad_norm': 2 } }));
      default: {
        const { lengths, loss } = gradientsIn(verb, body);
        if (verb === 'forward_backward' && body['forward_only'] !== true) model.gradients.push(`${loss} ${lengths.join(' ')}`);
        const outputs = lengths.map((length) => ({ logprobs: { data: new Array<number>(length).fill(-1) } }));
        return done(later({ loss_fn_outputs: outputs }, this.#options.speaks === 'protobuf' ? gradientBytes(lengths) : undefined));
      }
    }
  }
}

function gradientsIn(verb: string, body: Record<string, unknown>): { lengths: number[]; loss: string } {
  if (body['lengths']) return { lengths: body['lengths'] as number[], loss: String(body['loss']) };
  const input = body[`${verb}_input`] as { loss_fn: string; data: { loss_fn_inputs: { target_tokens: { data: number[] } } }[] };
  return { lengths: input.data.map((datum) => datum.loss_fn_inputs.target_tokens.data.length), loss: input.loss_fn };
}

/** The fields of a ForwardBackwardRequest that the simulation uses. */
function gradientBody(bytes: Uint8Array): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  const lengths: number[] = [];
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === 1) body['model_id'] = reader.string();
    else if (field === 2) body['seq_id'] = reader.int32();
    else if (field === 4) body['loss'] = reader.string();
    else if (field === 6) body['forward_only'] = reader.bool();
    else if (field === 3) lengths.push(tokensIn(reader.bytes()));
    else reader.skip(type, field);
  }
  return { ...body, lengths };
}

/** The number of tokens of a Datum. */
function tokensIn(datum: Uint8Array): number {
  const reader = new BinaryReader(datum);
  reader.tag();
  const chunk = new BinaryReader(reader.bytes());
  chunk.tag();
  const text = new BinaryReader(chunk.bytes());
  text.tag();
  return text.bytes().length / 4;
}

function sampleOrder(body: Record<string, unknown>): SampleOrder {
  const { prompt, sampling_params: { seed }, model_path: path } = body as {
    prompt: { chunks: { tokens: number[] }[] }; sampling_params: { seed: number }; model_path?: string;
  };
  return { seed, prompt: prompt.chunks[0]!.tokens, path };
}

function sampleBytes(tokens: readonly number[]): Uint8Array {
  const writer = new BinaryWriter().tag(1, WireType.LengthDelimited).fork();
  writer.tag(2, WireType.LengthDelimited).bytes(new Uint8Array(Int32Array.from(tokens).buffer));
  writer.tag(3, WireType.LengthDelimited).bytes(new Uint8Array(Float32Array.from(tokens.map(() => -1)).buffer));
  return writer.join().finish();
}

function gradientBytes(lengths: readonly number[]): Uint8Array {
  const offsets = [0];
  for (const length of lengths) offsets.push(offsets.at(-1)! + 4 * length);
  const values = new Float32Array(offsets.at(-1)! / 4).fill(-1);
  const writer = new BinaryWriter().tag(2, WireType.LengthDelimited).fork();
  writer.tag(2, WireType.LengthDelimited).fork().tag(1, WireType.LengthDelimited).string('logprobs').tag(2, WireType.LengthDelimited).fork();
  writer.tag(1, WireType.LengthDelimited).bytes(new Uint8Array(values.buffer));
  writer.tag(2, WireType.LengthDelimited).bytes(new Uint8Array(BigInt64Array.from(offsets, BigInt).buffer));
  return writer.tag(3, WireType.Varint).int32(1).join().join().join().finish();
}
