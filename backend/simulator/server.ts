import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ZodError } from 'zod';
import { answerAsConductor } from './conductor-model.ts';
import { fillGap, gapIn } from './gaps.ts';
import { BodyTooLargeError, readBody, writeEvents } from './http-body.ts';
import { piecesOf, waitForFirstToken, waitForText } from './pace.ts';
import { CONDUCTOR, WORKERS, type Latency, type SimulatedEndpoint, type SimulatedWorker, type Wire } from './pool.ts';
import { answerOfColours, pictureProblem, tokensOfPictures } from './pictures.ts';
import { countTokens, type AnswerRule, type SimulatedCall, type SimulatedTurn } from './simulated-model.ts';
import { answerAsWorker, type CostedText, type HandsRule, type WorkerRule } from './worker-model.ts';
import { chatCompletions } from './wires/chat-completions.ts';
import { completions } from './wires/completions.ts';
import { messages } from './wires/messages.ts';
import { responses } from './wires/responses.ts';
import { InvalidRequestError } from './wires/tool-requests.ts';
import type { Answer, CallStream, ErrorKind, WireFormat, WireRequest } from './wires/wire-format.ts';

const MAX_BODY_BYTES = 8 * 1024 * 1024;

/** The name of the key in clients, if the server needs one. */
const KEY_NAME = 'CONDUCTOR_SIMULATOR_KEY';

export interface SimulatorOptions {
  /** The seed of all randomness, a whole number. */
  readonly seed: number;
  /** Multiplies all delays: 1, the default, is realistic; 0 answers immediately. */
  readonly latency?: number;
  /** If set, requests without this key are refused. */
  readonly key?: string;
  /** The workers; default: the demo's pool. Tests that need a solved question pass workers that never fail. */
  readonly workers?: readonly SimulatedWorker[];
  /** How workers answer; default: they know the demo's modules. The gym passes workers that know its tasks. */
  readonly rule?: WorkerRule;
  /** What workers do when they are offered tools; default: they answer with text alone. */
  readonly hands?: HandsRule;
  /** The preferred port; default: any free port. */
  readonly port?: number | undefined;
}

/** A simulated model as an entry of `workers.json`. */
export interface SimulatedWorkerConfig {
  readonly id: string;
  readonly provider: 'openai' | 'openai-compatible' | 'anthropic';
  readonly model: string;
  readonly baseUrl: string;
  readonly key?: string;
  readonly description: string;
  readonly maxOutputTokens: number;
  readonly price: { readonly inputPerMillion: number; readonly outputPerMillion: number };
  readonly hands?: 'tools';
  readonly pictures?: true;
  readonly simulated: true;
}

interface ServedModel {
  readonly wire: Wire;
  readonly latency: Latency;
  readonly fillsGaps?: boolean | undefined;
  readonly seesPictures?: boolean | undefined;
  readonly rule: AnswerRule;
}

interface Route {
  readonly format: WireFormat;
  /** The models of this endpoint. */
  readonly wires: readonly Wire[];
}

/** OpenAI's server offers both of its formats for every model. */
const OPENAI_WIRES: readonly Wire[] = ['openai-chat', 'openai-responses'];
const ROUTES: Readonly<Record<string, Route>> = {
  '/v1/chat/completions': { format: chatCompletions, wires: OPENAI_WIRES },
  '/v1/completions': { format: completions, wires: ['openai-chat'] },
  '/v1/responses': { format: responses, wires: OPENAI_WIRES },
  '/v1/messages': { format: messages, wires: ['anthropic'] },
};

const STATUS: Readonly<Record<ErrorKind, number>> = {
  'invalid-request': 400,
  unauthorized: 401,
  'not-found': 404,
  'too-large': 413,
  internal: 500,
};

class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly kind: ErrorKind;

  constructor(kind: ErrorKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

/**
 * Simulated models behind the wire formats of OpenAI and Anthropic, on 127.0.0.1 only. The header `x-conductor-simulated` marks every
 * response, and the first line marks every answer.
 */
export class SimulatorServer {
  readonly url: string;
  readonly #server: Server;
  readonly #models: ReadonlyMap<string, ServedModel>;
  readonly #latency: number;
  readonly #key: string | undefined;
  readonly #workers: readonly SimulatedWorker[];
  readonly #open = new Set<Promise<void>>();
  #asked = 0;

  private constructor(server: Server, { seed, latency = 1, key, workers = WORKERS, rule = answerAsWorker, hands }: SimulatorOptions) {
    this.#server = server;
    this.#latency = latency;
    this.#key = key;
    this.#workers = workers;
    this.#models = new Map<string, ServedModel>([
      ...workers.map(({ name, skills, hasHands, ...model }): [string, ServedModel] => [
        name,
        {
          ...model,
          rule: (request) => {
            const character = { name, skills, seed, hasHands };
            const colours = answerOfColours(request.messages);
            if (colours !== undefined) return said(colours);
            return hands && request.tools ? hands(character, request) : said(rule(character, request));
          },
        },
      ]),
      [CONDUCTOR.name, { ...CONDUCTOR, rule: (request) => said(answerAsConductor({ name: CONDUCTOR.name, seed }, request)) }],
    ]);
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('request', (request, response) => this.#accept(request, response));
  }

  /** Starts on a free port. */
  static async start(options: SimulatorOptions): Promise<SimulatorServer> {
    const server = createServer();
    await listenAt(server, options.port ?? 0).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') throw error;
      return listenAt(server, 0);
    });
    return new SimulatorServer(server, options);
  }

  /** The pool, as entries of `workers.json`. */
  workers(): SimulatedWorkerConfig[] {
    return this.#workers.map((worker) => ({ ...this.#configOf(worker), ...(worker.hasHands && { hands: 'tools' as const }) }));
  }

  /** The model that plays the Conductor, as an entry of `workers.json`. */
  conductor(): SimulatedWorkerConfig {
    return this.#configOf(CONDUCTOR);
  }

  /** Number of requests to a model. */
  get asked(): number {
    return this.#asked;
  }

  /** Number of active requests. */
  get answering(): number {
    return this.#open.size;
  }

  /** Resolves when no request is active. */
  async idle(): Promise<void> {
    while (this.#open.size > 0) await Promise.all(this.#open);
  }

  /** Aborts active requests and frees the port. */
  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
    await this.idle();
  }

  #configOf({ name, wire, description, price, seesPictures }: SimulatedEndpoint): SimulatedWorkerConfig {
    const openAiProvider = wire === 'openai-responses' ? 'openai' : 'openai-compatible';
    return {
      id: name,
      provider: wire === 'anthropic' ? 'anthropic' : openAiProvider,
      model: name,
      baseUrl: wire === 'anthropic' ? this.url : `${this.url}/v1`,
      ...(this.#key !== undefined && { key: KEY_NAME }),
      description,
      maxOutputTokens: 4_096,
      price,
      ...(seesPictures && { pictures: true }),
      simulated: true,
    };
  }

  #accept(request: IncomingMessage, response: ServerResponse): void {
    const answering = this.#handle(request, response).finally(() => this.#open.delete(answering));
    this.#open.add(answering);
  }

  /** Never rejects: errors are sent in the format that the client expects, if it is still connected. */
  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    response.setHeader('x-conductor-simulated', 'true');
    const path = (request.url ?? '/').split('?')[0] ?? '/';
    const route = ROUTES[path];
    const format = route?.format ?? (request.headers['anthropic-version'] === undefined ? chatCompletions : messages);
    try {
      const body = await readBody(request, MAX_BODY_BYTES);
      this.#checkKey(request);
      if (request.method === 'GET' && path === '/v1/models') sendJson(response, 200, this.#listModels(format === messages));
      else if (request.method === 'POST' && route) await this.#answer(route, body, response, gone.signal);
      else throw new RequestError('not-found', `The simulator has no ${request.method} ${path}.`);
    } catch (error) {
      if (gone.signal.aborted) return;
      const { kind, message } = explain(error);
      if (response.headersSent) response.destroy();
      else sendJson(response, STATUS[kind], format.error(kind, message));
    }
  }

  async #answer({ format, wires }: Route, body: string, response: ServerResponse, signal: AbortSignal): Promise<void> {
    this.#asked += 1;
    const request = format.read(JSON.parse(body));
    const model = this.#models.get(request.model);
    if (!model || !wires.includes(model.wire)) {
      throw new RequestError('not-found', `The simulator has no model "${request.model}" here; GET /v1/models lists them.`);
    }
    if (request.gap && !model.fillsGaps) {
      throw new RequestError('invalid-request', `The model "${request.model}" does not support insert.`);
    }
    const problem = pictureProblem(request.messages, model.seesPictures ?? false);
    if (problem !== undefined) throw new RequestError('invalid-request', problem);
    const answer = answerOf(request, model.rule);
    await waitForFirstToken(model.latency, this.#latency, signal);
    if (!request.stream) {
      await waitForText(writtenIn(answer), model.latency, this.#latency, signal);
      sendJson(response, 200, format.reply(answer));
      return;
    }
    const stream = format.stream(answer);
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
    const write = async (part: CallStream, text: string): Promise<void> => {
      await writeEvents(response, part.opening(), signal);
      for (const piece of piecesOf(text)) {
        await waitForText(piece, model.latency, this.#latency, signal);
        await writeEvents(response, part.piece(piece), signal);
      }
    };
    await write(stream, answer.text);
    for (const [index, call] of answer.calls.entries()) {
      const part = stream.call(call, index);
      await write(part, call.arguments);
      await writeEvents(response, part.closing(), signal);
    }
    await writeEvents(response, stream.closing(), signal);
    response.end();
  }

  #checkKey({ headers }: IncomingMessage): void {
    if (this.#key === undefined) return;
    if (headers['x-api-key'] === this.#key || headers.authorization === `Bearer ${this.#key}`) return;
    throw new RequestError('unauthorized', 'The key is missing or wrong.');
  }

  /** Each provider's list has only the models of its format, in its own shape. */
  #listModels(anthropic: boolean): unknown {
    const names = [...this.#models].filter(([, { wire }]) => (wire === 'anthropic') === anthropic).map(([name]) => name);
    if (!anthropic) {
      // Ollama's `owned_by` value marks models served like Ollama's.
      const owner = (id: string): string => (this.#models.get(id)?.fillsGaps ? 'library' : 'conductor-simulator');
      return { object: 'list', data: names.map((id) => ({ id, object: 'model', created: 0, owned_by: owner(id) })) };
    }
    const data = names.map((id) => ({
      id,
      type: 'model',
      display_name: `${id} (simulated)`,
      created_at: '1970-01-01T00:00:00Z',
    }));
    return { data, has_more: false, first_id: names[0] ?? null, last_id: names.at(-1) ?? null };
  }
}

/** Truncates the turn at the request's token limit, as real models do. */
function answerOf(request: WireRequest, rule: AnswerRule): Answer {
  const { model, messages: asked, tools, gap, stop = [], sample, maxOutputTokens, streamUsage } = request;
  const toFill = gap ?? gapIn(asked);
  const turn = toFill ? said(fillGap(toFill)) : rule({ messages: asked, tools, sample });
  const whole = { ...turn, text: stop.reduce((text, end) => text.split(end)[0] ?? '', turn.text) };
  const isCut = maxOutputTokens !== undefined && countTokens(writtenIn(whole)) > maxOutputTokens;
  let left = isCut ? maxOutputTokens * 4 : Infinity;
  const cut = (written: string): string => {
    const kept = written.slice(0, left);
    left -= kept.length;
    return kept;
  };
  const text = cut(whole.text);
  const calls: SimulatedCall[] = [];
  for (const { name, arguments: written } of whole.calls) {
    if (left > name.length) calls.push({ id: `call_${randomUUID().replaceAll('-', '')}`, name: cut(name), arguments: cut(written) });
  }
  return {
    id: randomUUID(),
    model,
    createdAt: new Date(),
    text,
    calls,
    finish: isCut ? 'length' : 'stop',
    inputTokens: turn.tokens?.input ?? asked.reduce((sum, { content, toolCalls = [] }) => sum + countTokens(content + writtenIn({ text: '', calls: toolCalls })), 0) +
      tokensOfPictures(asked) + (tools ? countTokens(JSON.stringify(tools)) : 0),
    outputTokens: turn.tokens?.output ?? countTokens(writtenIn({ text, calls })),
    streamUsage,
  };
}

function said(answer: string | CostedText): SimulatedTurn {
  return typeof answer === 'string' ? { text: answer, calls: [] } : { ...answer, calls: [] };
}

function writtenIn({ text, calls }: SimulatedTurn): string {
  return text + calls.map((call) => call.name + call.arguments).join('');
}

function explain(error: unknown): { kind: ErrorKind; message: string } {
  if (error instanceof RequestError) return error;
  if (error instanceof InvalidRequestError) return { kind: 'invalid-request', message: error.message };
  if (error instanceof BodyTooLargeError) return { kind: 'too-large', message: error.message };
  if (error instanceof SyntaxError) return { kind: 'invalid-request', message: 'The request is not valid JSON.' };
  if (error instanceof ZodError) {
    const issue = error.issues[0];
    return { kind: 'invalid-request', message: `${issue?.path.join('.') || 'The request'}: ${issue?.message ?? 'is not valid'}` };
  }
  return { kind: 'internal', message: 'The simulator failed. This is a bug in the simulator.' };
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

async function listenAt(server: Server, port: number): Promise<void> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
}
