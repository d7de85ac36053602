import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/*
 * A small HTTP server that goes wrong on purpose, in the wire format of whichever API it is asked by. Each request takes the next
 * fault of the script; the last one repeats.
 */

/** How an API says a thing in its stream of events. */
interface Wire {
  readonly begin: string;
  text(piece: string): string;
  readonly end: string;
  error(type: string, message: string): string;
}

function named(event: string, data: object): string {
  return `event: ${event}\ndata: ${JSON.stringify({ type: event, ...data })}\n\n`;
}

function unnamed(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

function chunk(delta: object, finish_reason: string | null = null): object {
  return { id: '1', object: 'chat.completion.chunk', model: 'served', choices: [{ index: 0, delta, finish_reason }] };
}

const chat: Wire = {
  begin: unnamed(chunk({ role: 'assistant', content: '' })),
  text: (content) => unnamed(chunk({ content })),
  end:
    unnamed(chunk({}, 'stop')) +
    unnamed({ model: 'served', choices: [], usage: { prompt_tokens: 20, completion_tokens: 7, total_tokens: 27 } }) +
    'data: [DONE]\n\n',
  error: (type, message) => unnamed({ error: { type, code: type, message } }),
};

const responses: Wire = {
  begin: named('response.created', { response: { id: '1', status: 'in_progress' } }),
  text: (delta) => named('response.output_text.delta', { delta }),
  end: named('response.completed', {
    response: { id: '1', model: 'served', status: 'completed', usage: { input_tokens: 20, output_tokens: 7, total_tokens: 27 } },
  }),
  error: (code, message) => named('response.failed', { response: { id: '1', error: { code, message } } }),
};

const messages: Wire = {
  begin:
    named('message_start', { message: { id: '1', model: 'served', usage: { input_tokens: 20, output_tokens: 1 } } }) +
    named('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
  text: (text) => named('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
  end:
    named('content_block_stop', { index: 0 }) +
    named('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 7 } }) +
    named('message_stop', {}),
  error: (type, message) => named('error', { error: { type, message } }),
};

function wireOf(path: string): Wire {
  if (path.endsWith('/chat/completions')) return chat;
  return path.endsWith('/responses') ? responses : messages;
}

export type Fault = (response: ServerResponse, wire: Wire) => void | Promise<void>;

function stream(response: ServerResponse, ...events: string[]): void {
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(events.join(''));
}

export const faults = {
  answer: (...pieces: string[]): Fault => (response, wire) => {
    stream(response, wire.begin, ...pieces.map(wire.text), wire.end);
    response.end();
  },
  /** Events exactly as given. */
  events: (...events: string[]): Fault => (response) => {
    stream(response, ...events);
    response.end();
  },
  noHeaders: (() => undefined) satisfies Fault,
  stallBeforeFirstToken: ((response, wire) => stream(response, wire.begin)) satisfies Fault,
  /** Comments for ever, which are no tokens. */
  keepAlivesOnly: ((response, wire) => {
    stream(response, wire.begin);
    const timer = setInterval(() => response.write(': working\n\n'), 20);
    response.on('close', () => clearInterval(timer));
  }) satisfies Fault,
  stallMidStream: ((response, wire) => stream(response, wire.begin, wire.text('half an ans'))) satisfies Fault,
  cleanEndWithoutTerminal: ((response, wire) => {
    stream(response, wire.begin, wire.text('half an ans'));
    response.end();
  }) satisfies Fault,
  reset: (async (response, wire) => {
    stream(response, wire.begin, wire.text('half an ans'));
    // Let the first bytes leave before the socket is cut.
    await new Promise((resolve) => response.write('\n', resolve));
    response.socket?.resetAndDestroy();
  }) satisfies Fault,
  errorEvent: (type: string, message: string): Fault => (response, wire) => {
    stream(response, wire.begin, wire.text('half an ans'), wire.error(type, message));
    response.end();
  },
  refuse: (status: number, body: object | string, headers: Record<string, string> = {}): Fault => (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  },
  /** A refusal whose body never ends. */
  refuseAndStall: (status: number): Fault => (response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.write('{');
  },
  /** A whole answer, slowly: longer in all than the pause between two pieces. */
  slow: (pauseMs: number, ...pieces: string[]): Fault => async (response, wire) => {
    stream(response, wire.begin);
    for (const piece of pieces) {
      stream(response, wire.text(piece));
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    response.end(wire.end);
  },
  invalidJson: ((response, wire) => {
    stream(response, wire.begin, wire.text('half'), 'event: content_block_delta\ndata: {"type": oops\n\n');
    response.end();
  }) satisfies Fault,
  page: ((response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    response.end('<html>Welcome</html>');
  }) satisfies Fault,
  /** Events exactly as given, and then nothing more, nor an end. */
  stallAfter: (...events: string[]): Fault => (response) => stream(response, ...events),
  /** The same, and then one event again and again, as fast as it is taken. */
  endlessly: (first: string, again: string): Fault => (response) => pour(response, first, again),
  /** Text without end, as fast as it is taken. */
  endless: ((response, wire) => pour(response, wire.begin, wire.text('x'.repeat(10_000)))) satisfies Fault,
  /** One line without end. */
  endlessLine: ((response) => pour(response, 'data: "', 'x'.repeat(100_000))) satisfies Fault,
  redirect: (location: string): Fault => (response) => {
    response.writeHead(307, { location });
    response.end();
  },
};

async function pour(response: ServerResponse, first: string, again: string): Promise<void> {
  stream(response, first);
  while (!response.destroyed) {
    if (response.write(again)) continue;
    const done = new AbortController();
    await Promise.race([once(response, 'drain', done), once(response, 'close', done)]).finally(() => done.abort());
  }
}

export interface SeenRequest {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Readonly<Record<string, unknown>>;
}

export class FaultServer {
  readonly requests: SeenRequest[] = [];
  readonly #server: Server;
  #script: Fault[] = [];

  private constructor() {
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  static async start(): Promise<FaultServer> {
    const server = new FaultServer();
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  script(...script: Fault[]): void {
    this.#script = script;
    this.requests.length = 0;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await request.toArray()).join('');
    const path = request.url ?? '';
    this.requests.push({ path, headers: request.headers, body: JSON.parse(body || '{}') as Record<string, unknown> });
    const fault = this.#script.length > 1 ? this.#script.shift() : this.#script[0];
    await fault?.(response, wireOf(path));
  }
}
