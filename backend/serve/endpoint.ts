import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { bearerKey, foreignSource, listenHere, PortTakenError, type Listening } from '../common/local-http.ts';
import { converseRequestSchema, type Account, type Conversation, type ConverseRequest, type ConverseResult } from '../protocol/conversation.ts';
import { ERROR_CODES } from '../protocol/methods.ts';
import { withNewestPictures } from '../protocol/newest-pictures.ts';
import { RequestError } from '../protocol/request-error.ts';
import type { WorkerConfig } from '../protocol/worker-config.ts';
import { chatCompletions } from './chat-completions.ts';
import type { ClientKeys } from './client-keys.ts';
import { endpointError, EndpointError, invalid, parsed, WORKER_ERROR } from './endpoint-error.ts';
import { EventStream } from './event-stream.ts';
import type { GivenItems } from './given-items.ts';
import { forgetResponse, givenResponse, type Given } from './given-responses.ts';
import { countedPrompt, messages } from './messages.ts';
import { isClaudeName, ModelList } from './model-list.ts';
import { responses } from './responses.ts';
import { StopText } from './stop-text.ts';
import type { AskedTurn, Wire } from './wire.ts';

/** What the endpoint asks of the backend, in whose process it is. All throw RequestError. */
export interface Backend {
  /** All of the pool, those that are switched off included. */
  workers(): Promise<readonly WorkerConfig[]>;
  count(told: Pick<Conversation, 'messages' | 'tools'>): number;
  /** @param signal aborted when the client is gone. @param onText called with each piece of the speaker's text, in order */
  turn(asked: ConverseRequest, options: { readonly signal: AbortSignal; readonly onText: (text: string) => void }): Promise<ConverseResult>;
}

export interface EndpointOptions {
  readonly keys: Pick<ClientKeys, 'find'>;
  readonly given: GivenItems;
  readonly givenResponses: GivenItems;
  readonly backend: Backend;
  /** 0 for a free one. */
  readonly port: number;
  readonly log: (line: string) => void;
  /** How long a stream is silent at most; ten seconds by default. */
  readonly keepAliveMs?: number;
}

/** Of all but the pictures that go on. A run is shown to clients in one message, with both (`MAX_MESSAGE_BYTES`). */
const MAX_TEXT_BYTES = 3.5 * 1024 * 1024;
/** With pictures, older ones included, of which most are left out here. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;
/** A value that is nested deeper than any tool's schema is meant to break programs that go through it. */
const MAX_DEPTH = 200;
/** Of a larger body, so much is read and thrown away, so that the client reads the answer. */
const MAX_DRAINED_BYTES = 64 * 1024 * 1024;
/** Clients' own names for their sessions. */
const SESSION_HEADERS = ['x-conductor-session', 'x-claude-code-session-id', 'x-session-id', 'session-id', 'x-affinity'];

/** Serves OpenAI's Chat Completions and Responses and Anthropic's Messages on 127.0.0.1. @throws RequestError of kind `port-taken` */
export async function openEndpoint(options: EndpointOptions): Promise<Listening> {
  for (const given of [options.given, options.givenResponses]) given.sweep().catch((error: unknown) => options.log(String(error)));
  const server = createServer((request, response) => {
    answer(request, response, options).catch((error: unknown) => options.log(String(error)));
  });
  // A plan and its steps may take long; the client says when it does not wait any more.
  server.requestTimeout = 0;
  server.headersTimeout = 20_000;
  const { port, close } = await listenHere(server, options.port).catch((error: unknown) => {
    throw error instanceof PortTakenError ? new RequestError({ code: ERROR_CODES.refused, kind: 'port-taken', message: error.message }) : error;
  });
  return {
    port,
    close: async () => {
      await close();
      await Promise.all([options.given.settled(), options.givenResponses.settled()]);
    },
  };
}

interface Exchange extends EndpointOptions {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly account: Account;
}

type Route = (exchange: Exchange) => Promise<void>;

const ROUTES: Readonly<Record<string, Route>> = {
  'GET /models': async ({ response, request, backend }) => {
    const list = await modelList(backend);
    sendJson(response, 200, isAnthropic(request) ? list.anthropic : list.openAi);
  },
  'POST /chat/completions': (exchange) => turn(exchange, chatCompletions),
  'POST /responses': (exchange) => turn(exchange, responses(givenOf(exchange))),
  'POST /messages': (exchange) => turn(exchange, messages),
  'POST /messages/count_tokens': async ({ request, response, backend }) => {
    sendJson(response, 200, { input_tokens: backend.count(countedPrompt(await bodyOf(request))) });
  },
};

/** Of one thing by its id, which is the rest of the path. */
const ROUTES_OF_ONE: Readonly<Record<string, (exchange: Exchange, id: string) => Promise<void>>> = {
  'GET /models': async ({ request, response, backend }, id) => sendJson(response, 200, (await modelList(backend)).one(id, { isAnthropic: isAnthropic(request) })),
  'GET /responses': async (exchange, id) => {
    if (/[?&]stream=true/.test(exchange.request.url ?? '')) throw invalid('stream: a response that is over is given whole.');
    sendJson(exchange.response, 200, givenResponse(id, givenOf(exchange)));
  },
  'DELETE /responses': async (exchange, id) => sendJson(exchange.response, 200, await forgetResponse(id, givenOf(exchange))),
};

async function answer(request: IncomingMessage, response: ServerResponse, parts: EndpointOptions): Promise<void> {
  const path = (request.url ?? '').split('?', 1)[0]?.replace(/^\/v1(?=\/)/, '').replace(/\/$/, '') ?? '';
  const id = `req_${randomUUID().replaceAll('-', '')}`;
  // Both SDKs show it with an error.
  response.setHeader('request-id', id);
  response.setHeader('x-request-id', id);
  try {
    checkSource(request);
    const exchange = { ...parts, request, response, account: await accountOf(request, parts) };
    const route = ROUTES[`${request.method} ${path}`];
    const [, room, id] = /^(\/[^/]+)\/(.+)$/.exec(path) ?? [];
    const routeOfOne = ROUTES_OF_ONE[`${request.method} ${room}`];
    if (route) await route(exchange);
    else if (routeOfOne && id !== undefined) await routeOfOne(exchange, decoded(id));
    else throw invalid(`There is nothing at ${request.method} ${path}: this endpoint has ${[...Object.keys(ROUTES), ...Object.keys(ROUTES_OF_ONE).map((one) => `${one}/ID`)].map((one) => one.replace(' ', ' /v1')).join(', ')}.`, 404, 'not_found');
  } catch (error) {
    // The client has gone before it sent all of its request.
    if (request.errored) return;
    const problem = endpointError(error);
    logFailure(problem, parts.log);
    const { status, body } = (isAnthropic(request) || path.startsWith('/messages') ? messages : chatCompletions).error(problem);
    if (!response.headersSent) sendJson(response, status, body, problem.headers);
    else if (!response.writableEnded) response.destroy();
  }
}

function givenOf({ given, givenResponses, account }: Exchange): Given {
  return { items: given.of(account.id), responses: givenResponses.of(account.id) };
}

/** For the person who runs the endpoint. What a request did wrong is the client's affair. */
function logFailure({ status, type, cause, message }: EndpointError, log: (line: string) => void): void {
  if (status >= 500 || type === WORKER_ERROR) log(cause instanceof Error ? cause.message : message);
}

/** Which form a client of `/v1/models` reads. */
function isAnthropic({ headers }: IncomingMessage): boolean {
  return headers['anthropic-version'] !== undefined;
}

/** Codex, and programs made from it. */
function isCodex({ headers }: IncomingMessage): boolean {
  return headers['originator'] !== undefined;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw invalid('The address is malformed.');
  }
}

function checkSource(request: IncomingMessage): void {
  const { localPort } = request.socket;
  const foreign = foreignSource(request, localPort);
  if (foreign === 'page') throw invalid('Web pages may not use this endpoint.', 403, 'forbidden');
  if (foreign === 'host') throw invalid(`This endpoint is reached as 127.0.0.1:${localPort} alone.`, 403, 'forbidden');
}

async function accountOf(request: IncomingMessage, { keys }: EndpointOptions): Promise<Account> {
  const { 'x-api-key': key } = request.headers;
  const given = bearerKey(request) ?? (typeof key === 'string' ? key : undefined);
  const account = given === undefined ? undefined : await keys.find(given);
  if (!account) throw new EndpointError(401, 'authentication_error', 'invalid_api_key', `${given === undefined ? 'No key was sent' : 'The key is not known'}: "conductor serve key add NAME" makes one.`);
  return account;
}

async function modelList(backend: Backend): Promise<ModelList> {
  return new ModelList((await backend.workers()).filter(({ enabled }) => enabled));
}

async function turn({ request, response, backend, account, keepAliveMs, log }: Exchange, wire: Wire): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort(new Error('The client has gone.')));
  const { turn: { messages: sent, ...others }, stops, isStreamed, session: ownSession, answer: form } = wire.read(await bodyOf(request));
  const asked = checkedSize({ ...others, messages: withNewestPictures(sent) });
  const session = [...SESSION_HEADERS.map((name) => request.headers[name]), ownSession].find((value) => typeof value === 'string' && value !== '' && value.length <= 200) as string | undefined;
  const model = isClaudeName(asked.model) ? (await modelList(backend)).meant(asked.model) : asked.model;
  const stream = isStreamed ? new EventStream(response, form, { keepAliveMs }) : undefined;
  const said = new StopText(stops);
  const write = (text: string): void => { if (text !== '') stream?.write(() => form.text(text)); };
  try {
    const told = parsed(converseRequestSchema, { ...asked, model, requestId: randomUUID(), account, ...(session !== undefined && { session }) });
    const result = await backend.turn(told, { signal: gone.signal, onText: (text) => write(said.take(text)) });
    write(said.rest());
    const { text, stoppedAt } = said;
    // What was to be said after a stop sequence was never said.
    const whole = { ...result, text, ...(stoppedAt !== undefined && { stoppedAt, calls: [], finishReason: 'stop' as const }) };
    if (!stream) return sendJson(response, 200, form.whole(whole));
    stream.write(() => form.closing(whole));
    stream.end();
  } catch (error) {
    if (gone.signal.aborted) return;
    const problem = endpointError(error);
    if (!response.headersSent && !(stream && isCodex(request) && form.isToldInStream?.(problem))) throw error;
    logFailure(problem, log);
    stream?.write(() => form.failed(problem));
    stream?.end();
  } finally {
    stream?.stop();
  }
}

/** @throws EndpointError if the texts are too large */
function checkedSize(turn: AskedTurn): AskedTurn {
  const bytes = Buffer.byteLength(JSON.stringify(turn, (key, value: unknown) => (key === 'pictures' ? undefined : value)));
  if (bytes > MAX_TEXT_BYTES) throw tooLarge(`${MAX_TEXT_BYTES / 2 ** 20} MiB beside its pictures`);
  return turn;
}

const tooLarge = (most: string): EndpointError => invalid(`A request may hold at most ${most}.`, 413, 'request_too_large');

function sendJson(response: ServerResponse, status: number, body: object, headers: Readonly<Record<string, string>> = {}): void {
  const text = JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'content-length': Buffer.byteLength(text), 'cache-control': 'no-store', ...headers }).end(text);
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= MAX_BODY_BYTES) chunks.push(chunk);
    else chunks.length = 0;
    if (bytes > MAX_DRAINED_BYTES) break;
  }
  if (bytes > MAX_BODY_BYTES) throw tooLarge(`${MAX_BODY_BYTES / 2 ** 20} MiB`);
  const body = jsonIn(Buffer.concat(chunks));
  if (isDeeper(body, MAX_DEPTH)) throw invalid(`The request is nested deeper than ${MAX_DEPTH} levels.`);
  return body;
}

function jsonIn(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw invalid('The request is no JSON.');
  }
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((one) => isDeeper(one, levels - 1));
}
