import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a person may have pulled, and which simulated worker answers in its place. */
const MODELS = [
  { name: 'qwen3:30b', family: 'qwen3moe', parameter_size: '30.5B', answers: 'sim-atlas' },
  { name: 'qwen2.5-coder:7b', family: 'qwen2', parameter_size: '7.6B', answers: 'sim-cedar' },
  { name: 'llama3.2:3b', family: 'llama', parameter_size: '3.2B', answers: 'sim-ember' },
  { name: 'qwen3:8b', family: 'qwen3', parameter_size: '8.2B', answers: 'sim-atlas' },
  { name: 'nomic-embed-text:latest', family: 'nomic-bert', parameter_size: '137M', answers: undefined },
] as const;

/** A server that says what Ollama says: its list of models, and OpenAI's API in front of the simulator. */
export class OllamaServer {
  readonly port: number;
  /** Address of the simulator that answers. */
  behind = '';
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.on('request', (request, response) => {
      this.#answer(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
  }

  static async start(): Promise<OllamaServer> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new OllamaServer(server);
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === '/api/tags') {
      return send(response, { models: MODELS.map(({ name, family, parameter_size }) => ({ name, model: name, details: { family, parameter_size } })) });
    }
    if (request.url === '/v1/models') return send(response, { object: 'list', data: MODELS.map(({ name }) => ({ id: name, owned_by: 'library' })) });
    if (request.url !== '/v1/chat/completions') return send(response, { error: 'not found' }, 404);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const asked = JSON.parse(Buffer.concat(chunks).toString()) as { model: string };
    const worker = MODELS.find(({ name }) => name === asked.model)?.answers;
    // A model that is asked for a plan plays the Conductor.
    const model = worker && JSON.stringify(asked).includes('AVAILABLE WORKERS:') ? 'sim-conductor' : worker;
    if (model === undefined) return send(response, { error: { message: `model '${asked.model}' not found` } }, 404);
    const answer = await fetch(`${this.behind}/v1/chat/completions`, {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ ...asked, model }),
    });
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'application/json' });
    for await (const chunk of answer.body ?? []) response.write(chunk);
    response.end();
  }
}

function send(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
