import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { SimulatedMessage } from '../../backend/simulator/simulated-model.ts';
import { writeEvents } from '../../backend/simulator/http-body.ts';
import { chatCompletions } from '../../backend/simulator/wires/chat-completions.ts';
import { messages } from '../../backend/simulator/wires/messages.ts';
import { responses } from '../../backend/simulator/wires/responses.ts';
import type { Answer, WireFormat } from '../../backend/simulator/wires/wire-format.ts';

export interface ScriptedRequest {
  readonly model: string;
  /** All messages' texts, one after another. */
  readonly text: string;
  readonly messages: readonly SimulatedMessage[];
  /** The names of the tools that the model may ask for. */
  readonly tools: readonly string[];
  /** As it was sent. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly authorization: string | undefined;
  /** Resolves when the client has gone before the answer was complete. */
  readonly abandoned: Promise<void>;
}

/** A tool call. Its arguments are written as they are if they are text. */
export interface ScriptedCall {
  /** A new one by default. */
  readonly id?: string;
  readonly name: string;
  readonly arguments: object | string;
}

/**
 * What the script says to a request: a text, one that ends with the tokens, a status with an error of a code or a time to wait, one that is
 * begun and goes on when the promise resolves, nothing but an end of the connection, or calls of tools, which may end with the tokens, too.
 */
export type ScriptedAnswer =
  | string | { cutOff: string } | { status: number; code?: string; retryAfter?: number; message?: string } | { begin: string; rest: Promise<string> } | { hangsUp: true }
  | { text?: string; calls: readonly ScriptedCall[]; isCutOff?: boolean };

const FORMATS: Readonly<Record<string, WireFormat>> = {
  '/v1/chat/completions': chatCompletions, '/v1/responses': responses, '/v1/messages': messages,
};

/**
 * A model server on a real socket that answers by a script: Chat Completions, Responses and Messages, streamed. For tests of what is built
 * on workers; the wires' own faults are tested in test/workers.
 */
export class ScriptedServer {
  readonly requests: ScriptedRequest[] = [];
  readonly #server: Server;
  #calls = 0;

  private constructor(script: (request: ScriptedRequest) => ScriptedAnswer) {
    this.#server = createServer((request, response) => void this.#answer(request, response, script));
  }

  static async start(script: (request: ScriptedRequest) => ScriptedAnswer): Promise<ScriptedServer> {
    const scripted = new ScriptedServer(script);
    await new Promise<void>((resolve) => scripted.#server.listen(0, '127.0.0.1', resolve));
    return scripted;
  }

  /** The address for OpenAI's formats. Anthropic's clients take it without `/v1`. */
  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  /** Requests whose model has this name. */
  of(model: string): ScriptedRequest[] {
    return this.requests.filter((request) => request.model === model);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse, script: (request: ScriptedRequest) => ScriptedAnswer): Promise<void> {
    const format = FORMATS[request.url?.split('?')[0] ?? ''];
    // Who looks for its list of models finds none.
    if (request.method !== 'POST' || !format) return void response.writeHead(404).end();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const fail = (status: number, error: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(error));
    };
    let asked: ReturnType<WireFormat['read']>;
    let body: Record<string, unknown>;
    try {
      body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>;
      asked = format.read(body);
    } catch (error) {
      return fail(400, format.error('invalid-request', String(error)));
    }
    const gone = new AbortController();
    const abandoned = new Promise<void>((resolve) => gone.signal.addEventListener('abort', () => resolve()));
    response.on('close', () => !response.writableFinished && gone.abort());
    const scripted: ScriptedRequest = {
      model: asked.model,
      text: asked.messages.map(({ content }) => content).join('\n'),
      messages: asked.messages,
      tools: (asked.tools ?? []).map(({ name }) => name),
      body,
      authorization: request.headers.authorization,
      abandoned,
    };
    this.requests.push(scripted);
    const said = script(scripted);
    if (typeof said === 'object' && 'hangsUp' in said) return void request.socket.destroy();
    if (typeof said === 'object' && 'status' in said) {
      const { status, code, retryAfter, message = `scripted ${status}` } = said;
      if (retryAfter !== undefined) response.setHeader('retry-after', String(retryAfter));
      return fail(status, { error: { message, ...(code !== undefined && { code }) } });
    }
    const begin = typeof said === 'string' ? said : 'cutOff' in said ? said.cutOff : 'begin' in said ? said.begin : said.text ?? '';
    const calls = typeof said === 'object' && 'calls' in said ? said.calls : [];
    const isCutOff = typeof said === 'object' && ('cutOff' in said || ('calls' in said && said.isCutOff === true));
    const answer: Answer = {
      id: 'x',
      model: asked.model,
      createdAt: new Date(),
      text: begin,
      calls: calls.map(({ id, name, arguments: given }) => {
        this.#calls += 1;
        return { id: id ?? `call_${this.#calls}`, name, arguments: typeof given === 'string' ? given : JSON.stringify(given) };
      }),
      finish: isCutOff ? 'length' : 'stop',
      inputTokens: 100,
      outputTokens: 20,
      streamUsage: true,
    };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const stream = format.stream(answer);
    const send = (...events: Parameters<typeof writeEvents>[1]): Promise<void> => writeEvents(response, events, gone.signal);
    try {
      await send(...stream.opening());
      if (begin !== '') await send(...stream.piece(begin));
      if (typeof said === 'object' && 'rest' in said) await send(...stream.piece(await said.rest));
      for (const [index, call] of answer.calls.entries()) {
        const part = stream.call(call, index);
        const middle = Math.floor(call.arguments.length / 2);
        await send(...part.opening(), ...part.piece(call.arguments.slice(0, middle)), ...part.piece(call.arguments.slice(middle)), ...part.closing());
      }
      await send(...stream.closing());
      response.end();
    } catch (error) {
      if (!gone.signal.aborted) throw error;
    }
  }
}
