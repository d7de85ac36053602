import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ScriptedRequest {
  readonly model: string;
  /** All messages' texts, one after another. */
  readonly text: string;
  readonly authorization: string | undefined;
  /** Resolves when the client has gone before the answer was complete. */
  readonly abandoned: Promise<void>;
}

/**
 * What the script says to a request: a text, one that ends with the tokens, a status, or one that is begun and goes on when the
 * promise resolves.
 */
export type ScriptedAnswer = string | { cutOff: string } | { status: number } | { begin: string; rest: Promise<string> };

/**
 * A model server on a real socket that speaks OpenAI's Chat Completions, streamed, and answers by a script. For tests of what is built
 * on workers; the wire's own faults are tested in test/workers.
 */
export class ScriptedServer {
  readonly requests: ScriptedRequest[] = [];
  readonly #server: Server;

  private constructor(script: (request: ScriptedRequest) => ScriptedAnswer) {
    this.#server = createServer((request, response) => void this.#answer(request, response, script));
  }

  static async start(script: (request: ScriptedRequest) => ScriptedAnswer): Promise<ScriptedServer> {
    const scripted = new ScriptedServer(script);
    await new Promise<void>((resolve) => scripted.#server.listen(0, '127.0.0.1', resolve));
    return scripted;
  }

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
    // Who looks for its list of models finds none.
    if (request.method !== 'POST') return void response.writeHead(404).end();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { model: string; messages: { content: string }[] };
    const gone = Promise.withResolvers<void>();
    response.on('close', () => !response.writableFinished && gone.resolve());
    const scripted: ScriptedRequest = {
      model: body.model,
      text: body.messages.map(({ content }) => content).join('\n'),
      authorization: request.headers.authorization,
      abandoned: gone.promise,
    };
    this.requests.push(scripted);
    const answer = script(scripted);
    if (typeof answer === 'object' && 'status' in answer) {
      response.writeHead(answer.status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: `scripted ${answer.status}` } }));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (data: object): boolean => response.write(`data: ${JSON.stringify({ id: 'x', model: body.model, ...data })}\n\n`);
    const delta = (content: string): boolean => send({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });
    const isCutOff = typeof answer === 'object' && 'cutOff' in answer;
    if (typeof answer === 'string') delta(answer);
    else if (isCutOff) delta(answer.cutOff);
    else {
      delta(answer.begin);
      delta(await answer.rest);
    }
    send({ choices: [{ index: 0, delta: {}, finish_reason: isCutOff ? 'length' : 'stop' }] });
    send({ choices: [], usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 } });
    response.end('data: [DONE]\n\n');
  }
}
