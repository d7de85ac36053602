import { request as ask, type IncomingMessage, type ServerResponse } from 'node:http';
import { LocalServer } from '../support/local-server.ts';

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

/** Passes requests on to a server, keeps what was asked, and can hold an answer back. */
export class SpyingProxy {
  readonly requests: SeenRequest[] = [];
  /** Requests of models are taken and never answered. */
  holds = false;
  /** Settled when a request is held. */
  readonly holding = Promise.withResolvers<void>();
  /** Settled when the client of a held request has gone. */
  readonly gone = Promise.withResolvers<void>();
  readonly #target: string;
  readonly #server: LocalServer;

  private constructor(target: string, server: LocalServer) {
    this.#target = target;
    this.#server = server;
  }

  static async start(target: string): Promise<SpyingProxy> {
    const server = await LocalServer.start((request, response) => void started.#pass(request, response));
    const started = new SpyingProxy(target, server);
    return started;
  }

  get url(): string {
    return this.#server.url;
  }

  stop(): Promise<void> {
    return this.#server.stop();
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/', headers } = request;
    const body = (await request.toArray()).join('');
    this.requests.push({ method, path: url, body });
    if (this.holds && method === 'POST') {
      response.on('close', () => this.gone.resolve());
      this.holding.resolve();
      return;
    }
    const passed = ask(`${this.#target}${url}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', () => response.destroy());
    passed.end(body);
  }
}
