import { once } from 'node:events';
import { createServer, request as ask, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

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
  readonly #server: Server;

  private constructor(target: string) {
    this.#target = target;
    this.#server = createServer((request, response) => void this.#pass(request, response));
  }

  static async start(target: string): Promise<SpyingProxy> {
    const proxy = new SpyingProxy(target);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
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
