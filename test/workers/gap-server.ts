import type { IncomingMessage, ServerResponse } from 'node:http';
import { LocalServer } from '../support/local-server.ts';

/** Which program a server passes for. */
export type Program = 'ollama' | 'llama.cpp' | 'vllm' | 'lm-studio' | 'mistral' | 'other';

const OWNERS: Record<Program, string> = {
  ollama: 'library', 'llama.cpp': 'llamacpp', vllm: 'vllm', 'lm-studio': 'organization_owner', mistral: 'mistralai', other: 'somebody',
};

export interface SeenRequest {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

const data = (value: unknown): string => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`;

/** Fills gaps with `FILLED` and answers chats with `TOLD`, each in the wire format, and with the refusals, of the program it passes for. */
export class GapServer {
  readonly requests: SeenRequest[] = [];
  /** Whether the model was trained to fill gaps, where the program itself knows. */
  fills = true;
  /** Refuses whatever the model is asked, because it is not there. */
  lacksModel = false;
  /** Keeps the answer open after its first piece. */
  stalls = false;
  /** Settled when a client has gone away in the middle of an answer. */
  readonly gone = Promise.withResolvers<void>();
  readonly #program: Program;
  readonly #server: LocalServer;

  private constructor(program: Program, server: LocalServer) {
    this.#program = program;
    this.#server = server;
  }

  static async start(program: Program): Promise<GapServer> {
    const server = await LocalServer.start((request, response) => void started.#serve(request, response));
    const started = new GapServer(program, server);
    return started;
  }

  get url(): string {
    return this.#server.url;
  }

  stop(): Promise<void> {
    return this.#server.stop();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = (await request.toArray()).join('');
    const path = request.url ?? '';
    if (request.method === 'GET') {
      const models = { object: 'list', data: [{ id: 'some-coder', owned_by: OWNERS[this.#program] }] };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(models));
      return;
    }
    const body = JSON.parse(text) as Record<string, unknown>;
    this.requests.push({ path, body });
    const refusal = this.#refusal(path, body);
    if (refusal) {
      response.writeHead(refusal.status, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message: refusal.message } }));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (path.endsWith('/chat/completions')) {
      response.write(data({ model: 'served', choices: [{ index: 0, delta: { content: 'TOLD' }, finish_reason: null }] }));
      response.end(data({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }) + data('[DONE]'));
    } else if (path.endsWith('/infill')) {
      this.#fill(response, (content) => ({ content, stop: false }), [
        { content: '', stop: true, stop_type: 'eos', tokens_evaluated: 20, tokens_predicted: 7 },
      ]);
    } else if (path.endsWith('/fim/completions')) {
      this.#fill(response, (content) => ({ choices: [{ index: 0, delta: { content } }] }), [
        { choices: [{ index: 0, delta: { content: '' }, finish_reason: 'length' }], usage: { prompt_tokens: 20, completion_tokens: 7, total_tokens: 27 } },
      ]);
    } else {
      this.#fill(response, (piece) => ({ choices: [{ index: 0, text: piece }] }), [
        { choices: [{ index: 0, text: '', finish_reason: 'stop' }] },
        { choices: [], usage: { prompt_tokens: 20, completion_tokens: 7, total_tokens: 27 } },
      ]);
    }
  }

  #fill(response: ServerResponse, chunk: (piece: string) => object, ending: readonly object[]): void {
    response.write(data({ model: 'served', ...chunk('FIL') }));
    if (this.stalls) {
      response.on('close', () => this.gone.resolve());
      return;
    }
    response.write(data(chunk('LED')));
    response.end(ending.map(data).join('') + data('[DONE]'));
  }

  /** In the words of each program. */
  #refusal(path: string, { suffix }: Record<string, unknown>): { status: number; message: string } | undefined {
    if (this.lacksModel) return { status: 404, message: 'model "some-coder" not found, try pulling it first' };
    if (path.endsWith('/chat/completions')) return undefined;
    switch (this.#program) {
      case 'ollama':
        return this.fills ? undefined : { status: 400, message: 'registry.ollama.ai/library/some-coder:latest does not support insert' };
      case 'llama.cpp':
        if (path !== '/infill') return suffix === undefined ? undefined : { status: 500, message: 'Unsupported param: suffix' };
        return this.fills ? undefined : { status: 501, message: 'Infill is not supported by this model: prefix token is missing.' };
      case 'vllm':
      case 'other':
        return suffix === undefined ? undefined : { status: 400, message: 'suffix is not currently supported' };
      case 'lm-studio':
      case 'mistral':
        return undefined;
    }
  }
}
