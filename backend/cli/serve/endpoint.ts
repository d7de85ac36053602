import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CONDUCTOR_MODEL, type Account } from '../../protocol/conversation.ts';
import type { BackendClient } from '../../protocol/client/backend-client.ts';
import { chatRequestSchema, completion, firstChunk, lastChunks, textChunk, turnOf } from './chat-completions.ts';
import type { ClientKeys } from './client-keys.ts';
import { endpointError, EndpointError, invalid } from './endpoint-error.ts';

export interface EndpointOptions {
  readonly keys: Pick<ClientKeys, 'find'>;
  /** Connects to the backend; called again after the connection has ended. */
  readonly connect: () => Promise<BackendClient>;
  /** 0 for a free one. */
  readonly port: number;
  readonly log: (line: string) => void;
}

export interface Endpoint {
  readonly port: number;
  /** Ends the requests under way. */
  close(): Promise<void>;
}

/** Of texts alone. A message to the backend holds more (`MAX_MESSAGE_BYTES`), for pictures. */
const MAX_BODY_BYTES = 3.5 * 1024 * 1024;
/** Of a larger body, so much is read and thrown away, so that the client reads the answer. */
const MAX_DRAINED_BYTES = 64 * 1024 * 1024;
/** A stream that has nothing to say for so long says that it is there. */
const KEEP_ALIVE_MS = 10_000;
/** Clients' own names for their sessions. */
const SESSION_HEADERS = ['x-conductor-session', 'x-claude-code-session-id', 'x-session-id'];

/** Serves OpenAI's Chat Completions on 127.0.0.1. @throws an error with a sentence if the port is taken */
export async function openEndpoint(options: EndpointOptions): Promise<Endpoint> {
  const backend = new Backend(options.connect);
  const server = createServer((request, response) => {
    answer(request, response, { ...options, backend }).catch((error: unknown) => options.log(String(error)));
  });
  // A plan and its steps may take long; the client says when it does not wait any more.
  server.requestTimeout = 0;
  server.headersTimeout = 20_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(error.code === 'EADDRINUSE' ? new Error(`Port ${options.port} is taken: name another one with --port.`) : error));
    server.listen(options.port, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
      await backend.close();
    },
  };
}

/** One connection to the backend for all clients. */
class Backend {
  readonly #connect: () => Promise<BackendClient>;
  #client: Promise<BackendClient> | undefined;

  constructor(connect: () => Promise<BackendClient>) {
    this.#connect = connect;
  }

  client(): Promise<BackendClient> {
    return (this.#client ??= this.#connect().then((client) => {
      client.closed.then(() => { this.#client = undefined; }, () => { this.#client = undefined; });
      return client;
    }, (error: unknown) => {
      this.#client = undefined;
      throw error;
    }));
  }

  async close(): Promise<void> {
    (await this.#client?.catch(() => undefined))?.close();
  }
}

type Parts = EndpointOptions & { readonly backend: Backend };

async function answer(request: IncomingMessage, response: ServerResponse, parts: Parts): Promise<void> {
  try {
    checkSource(request);
    const account = await accountOf(request, parts);
    const route = `${request.method} ${(request.url ?? '').split('?', 1)[0]?.replace(/^\/v1(?=\/)/, '').replace(/\/$/, '')}`;
    if (route === 'GET /models') await sendModels(response, parts);
    else if (route === 'POST /chat/completions') await chat(request, response, { ...parts, account });
    else throw invalid(`There is nothing at ${route}: this endpoint has GET /v1/models and POST /v1/chat/completions.`, 404, 'not_found');
  } catch (error) {
    const problem = endpointError(error);
    if (problem.status >= 500) parts.log(problem.message);
    if (!response.headersSent) sendJson(response, problem.status, problem.body);
    else if (!response.writableEnded) response.end(`data: ${JSON.stringify(problem.body)}\n\n`);
  }
}

/** A page in a browser can reach this machine's ports. It has an origin, or another name for the host. */
function checkSource({ headers: { host, origin }, socket }: IncomingMessage): void {
  const names = ['127.0.0.1', 'localhost'].map((name) => `${name}:${socket.localPort}`);
  if (origin !== undefined) throw invalid('Web pages may not use this endpoint.', 403, 'forbidden');
  if (host === undefined || !names.includes(host.toLowerCase())) throw invalid(`This endpoint is reached as ${names[0]} alone.`, 403, 'forbidden');
}

async function accountOf({ headers }: IncomingMessage, { keys }: Parts): Promise<Account> {
  const [, bearer] = /^Bearer (\S+)$/i.exec(headers.authorization ?? '') ?? [];
  const given = bearer ?? (typeof headers['x-api-key'] === 'string' ? headers['x-api-key'] : undefined);
  const account = given === undefined ? undefined : await keys.find(given);
  if (!account) throw new EndpointError(401, 'authentication_error', 'invalid_api_key', `${given === undefined ? 'No key was sent' : 'The key is not known'}: "conductor serve key add NAME" makes one.`);
  return account;
}

async function sendModels(response: ServerResponse, { backend }: Parts): Promise<void> {
  const { workers } = await (await backend.client()).request('pool/get', {});
  const names = [CONDUCTOR_MODEL, ...workers.filter(({ worker }) => worker.enabled).map(({ worker }) => worker.id)];
  sendJson(response, 200, { object: 'list', data: names.map((id) => ({ id, object: 'model', created: 0, owned_by: 'conductor' })) });
}

async function chat(request: IncomingMessage, response: ServerResponse, { backend, account }: Parts & { readonly account: Account }): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort(new Error('The client has gone.')));
  const parsed = chatRequestSchema.safeParse(await bodyOf(request));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw invalid(`${issue?.path.join('.') || 'The request'}: ${issue?.message ?? 'not valid'}`);
  }
  const session = SESSION_HEADERS.map((name) => request.headers[name]).find((value) => typeof value === 'string' && value !== '' && value.length <= 200) as string | undefined;
  const { stream, stream_options: streamed, model } = parsed.data;
  const head = { id: `chatcmpl-${randomUUID()}`, model, created: Math.floor(Date.now() / 1_000) };
  const client = await backend.client();
  const requestId = randomUUID();
  const writer = stream ? new StreamWriter(response, firstChunk(head)) : undefined;
  const ended = client.on('converse/text', (piece) => {
    if (piece.requestId === requestId) writer?.write(textChunk(head, piece.text));
  });
  try {
    const result = await client.request('converse/turn', { ...turnOf(parsed.data), requestId, account, ...(session !== undefined && { session }) }, gone.signal);
    if (!writer) return sendJson(response, 200, completion(head, result));
    for (const one of lastChunks(head, result, { usage: streamed?.include_usage === true })) writer.write(one);
    writer.end();
  } catch (error) {
    if (gone.signal.aborted) return;
    throw error;
  } finally {
    writer?.stop();
    ended();
  }
}

/** Server-sent events. The status is written with the first of them, so that an error before it is an error of the request. */
class StreamWriter {
  readonly #response: ServerResponse;
  readonly #timer: NodeJS.Timeout;
  /** What comes before all others, until it is sent. */
  #first: object | undefined;

  constructor(response: ServerResponse, first: object) {
    this.#response = response;
    this.#first = first;
    this.#timer = setInterval(() => this.#send(': at work\n\n'), KEEP_ALIVE_MS);
  }

  write(event: object): void {
    for (const one of this.#first ? [this.#first, event] : [event]) this.#send(`data: ${JSON.stringify(one)}\n\n`);
    this.#first = undefined;
  }

  end(): void {
    this.stop();
    this.#response.end('data: [DONE]\n\n');
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #send(text: string): void {
    if (this.#response.writableEnded) return;
    if (!this.#response.headersSent) this.#response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store' });
    this.#response.write(text);
  }
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'content-length': Buffer.byteLength(text), 'cache-control': 'no-store' }).end(text);
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
  if (bytes > MAX_BODY_BYTES) throw invalid(`A request may hold at most ${MAX_BODY_BYTES / 2 ** 20} MiB.`, 413, 'request_too_large');
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)));
  } catch {
    throw invalid('The request is no JSON.');
  }
}
