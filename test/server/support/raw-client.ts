import { WebSocket } from 'ws';
import { PROTOCOL_VERSION } from '../../../backend/protocol/version.ts';

interface RawMessage {
  readonly id?: number | string | null;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: { readonly kind?: string } };
}

/** A peer that sends exactly the bytes a test wants, and keeps none of the rules. */
export class RawClient {
  readonly closed: Promise<{ code: number; reason: string }>;
  readonly socket: WebSocket;
  readonly #received: RawMessage[] = [];
  readonly #waiting: ((message: RawMessage) => void)[] = [];

  private constructor(socket: WebSocket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => {
      socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() }));
    });
    socket.on('message', (data) => {
      const message = JSON.parse(data.toString()) as RawMessage;
      const waiting = this.#waiting.shift();
      if (waiting) waiting(message);
      else this.#received.push(message);
    });
  }

  /** @throws Refused with the status and the body, when the server does not want the connection. */
  static open(port: number, headers: Record<string, string>): Promise<RawClient> {
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/`, { headers, perMessageDeflate: false });
      const client = new RawClient(socket);
      socket.once('open', () => resolve(client));
      socket.once('unexpected-response', (_request, response) => {
        let body = '';
        response.on('data', (chunk) => { body += String(chunk); });
        response.on('end', () => reject(new Refused(response.statusCode ?? 0, body)));
      });
      socket.on('error', () => undefined);
    });
  }

  next(): Promise<RawMessage> {
    const message = this.#received.shift();
    if (message) return Promise.resolve(message);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Sends the text (or, of anything else, its JSON) and gives the next message that comes back. */
  async ask(message: unknown): Promise<RawMessage> {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
    return this.next();
  }

  request(id: number, method: string, params?: unknown): Promise<RawMessage> {
    return this.ask({ jsonrpc: '2.0', id, method, params });
  }

  initialize(protocol: { major: number; minor: number } = PROTOCOL_VERSION): Promise<RawMessage> {
    return this.request(0, 'initialize', { protocol, client: { kind: 'test', version: '1' }, capabilities: [] });
  }
}

export class Refused extends Error {
  readonly status: number;

  constructor(status: number, body: string) {
    super(body);
    this.status = status;
  }
}
