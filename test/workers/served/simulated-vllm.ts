import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { openTokenizer, type Tokenizer } from '../../../backend/lm/tokenizer/tokenizer.ts';
import { MINI } from '../../support/unequal-workers.ts';

export interface SimulationOptions {
  /** The text of a plan, by its number from 0 and by the model that is asked. */
  readonly writes?: (sample: number, model: string) => string;
  /** Started without VLLM_ALLOW_RUNTIME_LORA_UPDATING. */
  readonly hasNoRoutes?: boolean;
  /** Started without --enable-lora. */
  readonly hasNoLora?: boolean;
  /** Fields that it refuses, as servers do that are no vLLM. */
  readonly refuses?: readonly string[];
  /** The most texts that it writes at once. */
  readonly most?: number;
}

type Body = Readonly<Record<string, unknown>>;

/**
 * A simulation of the part of vLLM that a served Conductor meets: adapters that are loaded while it runs, and streamed completions of token ids. It
 * computes nothing. Its refusals, their statuses and the form of its chunks are those that vLLM 0.32.0 gave on a CPU; vllm.test.ts asks the real one.
 */
export class SimulatedVllm {
  /** The bodies of all requests, by route and in order. */
  readonly asked: { readonly route: string; readonly body: Body; readonly key: string | undefined }[] = [];
  /** What is loaded: paths, by name. */
  readonly adapters = new Map<string, string>();
  readonly #server: Server;
  readonly #tokenizer: Tokenizer;
  readonly #options: SimulationOptions;

  private constructor(tokenizer: Tokenizer, options: SimulationOptions) {
    this.#tokenizer = tokenizer;
    this.#options = options;
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
  }

  /** For one test. */
  static async start(options: SimulationOptions = {}): Promise<SimulatedVllm> {
    const simulated = await SimulatedVllm.open(options);
    onTestFinished(() => simulated.close());
    return simulated;
  }

  static async open(options: SimulationOptions): Promise<SimulatedVllm> {
    const simulated = new SimulatedVllm(await openTokenizer(MINI), options);
    await new Promise<void>((resolve) => simulated.#server.listen(0, '127.0.0.1', resolve));
    return simulated;
  }

  close(): void {
    this.#server.close().closeAllConnections();
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  /** The bodies of the requests to a route. */
  to(route: string): Body[] {
    return this.asked.filter((one) => one.route === route).map(({ body }) => body);
  }

  /** As after a new start. */
  forget(): void {
    this.adapters.clear();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
    const body = JSON.parse(Buffer.concat(parts).toString() || '{}') as Body;
    const route = (request.url ?? '').replace('/v1/', '');
    this.asked.push({ route, body, key: request.headers.authorization });
    if (route === 'completions') return this.#complete(body, response);
    if (route === 'load_lora_adapter' && !this.#options.hasNoRoutes) return await this.#load(body, response);
    if (route === 'unload_lora_adapter' && !this.#options.hasNoRoutes) return this.#unload(body, response);
    if (route === 'models') return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ object: 'list', data: ['conductor-mini', ...this.adapters.keys()].map((id) => ({ id, object: 'model' })) }));
    response.writeHead(404, { 'content-type': 'application/json' }).end('{"detail":"Not Found"}');
  }

  #unload({ lora_name: name }: Body, response: ServerResponse): void {
    if (!this.adapters.delete(String(name))) return refuse(response, 404, 'NotFoundError', `The lora adapter '${String(name)}' cannot be found.`);
    response.writeHead(200, { 'content-type': 'text/plain' }).end(`Success: LoRA adapter '${String(name)}' removed successfully.`);
  }

  async #load({ lora_name: name, lora_path: place, load_inplace: inPlace }: Body, response: ServerResponse): Promise<void> {
    if (this.adapters.has(String(name)) && inPlace !== true) {
      return refuse(response, 400, 'InvalidUserInput', `The lora adapter '${String(name)}' has already been loaded. If you want to load the adapter in place, set 'load_inplace' to True.`);
    }
    const failed = (what: string): void => refuse(response, 500, 'InternalServerError', `Call to add_lora method failed: Worker failed with error '${what}', please check the stack trace above for the root cause`);
    if (this.#options.hasNoLora) return failed('LoRA is not enabled. Use --enable-lora to enable LoRA.');
    const weights = await stat(path.join(String(place), 'adapter_model.safetensors')).catch(() => undefined);
    if (!weights) return refuse(response, 404, 'NotFoundError', `Loading lora ${String(name)} failed: No adapter found for ${String(place)}`);
    // As those of rank 32 are, where 16 is the most.
    if (weights.size > 1_000_000) return failed('LoRA rank 32 is greater than max_lora_rank 16.');
    this.adapters.set(String(name), String(place));
    response.writeHead(200, { 'content-type': 'text/plain' }).end(`Success: LoRA adapter '${String(name)}' added successfully.`);
  }

  #complete(body: Body, response: ServerResponse): void {
    const { writes = () => 'model_id = [0]\nsubtasks = ["Write it."]\naccess_list = [[]]', refuses = [], most = Infinity } = this.#options;
    const model = String(body['model']);
    const refused = refuses.find((field) => field in body);
    if (refused !== undefined) return refuse(response, 400, 'BadRequestError', `${refused} is not supported`, refused);
    if (model !== 'conductor-mini' && !this.adapters.has(model)) return refuse(response, 404, 'NotFoundError', `The model \`${model}\` does not exist. Valid aliases: conductor-mini.`, 'model');
    const prompt = body['prompt'] as number[];
    const count = Math.min(Number(body['n'] ?? 1), most);
    const stop = this.#tokenizer.stopTokenIds[0] as number;
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    const send = (data: object): void => void response.write(`data: ${JSON.stringify({ id: 'cmpl-1', object: 'text_completion', created: 1, model, ...data })}\n\n`);
    let written = 0;
    for (let index = 0; index < count; index += 1) {
      const ids = [...this.#tokenizer.encode(writes(index, model), { specialTokens: 'plain', continues: true }), stop];
      written += ids.length;
      ids.forEach((id, at) => send({
        choices: [{
          index, text: id === stop ? '' : this.#tokenizer.decode([id], { skipSpecial: true, continues: true }),
          logprobs: 'logprobs' in body ? { text_offset: [at], token_logprobs: [-0.25], tokens: ['…'], top_logprobs: [{}] } : null,
          finish_reason: id === stop ? 'stop' : null, stop_reason: null,
          ...(body['return_token_ids'] === true && { prompt_token_ids: at === 0 ? prompt : null, token_ids: [id] }),
        }],
      }));
    }
    send({ choices: [], usage: { prompt_tokens: prompt.length, total_tokens: prompt.length + written, completion_tokens: written } });
    response.end('data: [DONE]\n\n');
  }
}

function refuse(response: ServerResponse, code: number, type: string, message: string, param: string | null = null): void {
  response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message, type, param, code } }));
}
