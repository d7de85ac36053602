import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** How a response goes wrong; whatever is absent goes right. */
export interface Fault {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The connection is destroyed after so many bytes of the body. */
  readonly cutAfterBytes?: number;
  /** After so many bytes nothing comes any more, and the connection stays open. */
  readonly silentAfterBytes?: number;
  /** Other content than the one asked for. */
  readonly content?: Buffer;
  readonly etag?: string | null;
  /** Answers a range with the whole content. */
  readonly ignoresRange?: boolean;
  /** Says it sends so many bytes in all; null: does not say. */
  readonly claimsBytes?: number | null;
}

export interface Seen {
  readonly path: string;
  readonly range: string | undefined;
  readonly ifRange: string | undefined;
  readonly authorization: string | undefined;
}

export type Answer = (request: Seen, response: ServerResponse) => void | Promise<void>;

/** A server on a real socket that remembers what it was asked. */
export class TestServer {
  readonly seen: Seen[] = [];
  readonly #server: Server;

  private constructor(answer: Answer) {
    this.#server = createServer((request, response) => {
      const seen = describe(request);
      this.seen.push(seen);
      void answer(seen, response);
    });
  }

  static async start(answer: Answer): Promise<TestServer> {
    const server = new TestServer(answer);
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

function describe(request: IncomingMessage): Seen {
  const header = (name: string): string | undefined => request.headers[name]?.toString();
  return { path: request.url ?? '', range: header('range'), ifRange: header('if-range'), authorization: header('authorization') };
}

/** Sends a file as storage does, with ETag, Range and If-Range; or goes wrong as told. */
export function sendFile(request: Seen, response: ServerResponse, bytes: Buffer, fault: Fault = {}): void {
  if (fault.status !== undefined) {
    response.writeHead(fault.status, { 'content-type': 'text/plain', ...fault.headers }).end('no');
    return;
  }
  const content = fault.content ?? bytes;
  const etag = fault.etag === undefined ? `"${content.length}-${content.subarray(0, 8).toString('hex')}"` : fault.etag;
  const from = Number(/^bytes=(\d+)-$/.exec(request.range ?? '')?.[1] ?? 0);
  const isRange = request.range !== undefined && !fault.ignoresRange && (request.ifRange === undefined || request.ifRange === etag);
  if (isRange && from >= content.length) {
    response.writeHead(416).end();
    return;
  }
  const body = isRange ? content.subarray(from) : content;
  const claimed = fault.claimsBytes ?? content.length;
  const length = { 'content-length': isRange ? claimed - from : claimed };
  response.writeHead(isRange ? 206 : 200, {
    ...(fault.claimsBytes === null ? {} : length),
    ...(isRange ? { 'content-range': `bytes ${from}-${claimed - 1}/${claimed}` } : {}),
    ...(etag === null ? {} : { etag }),
    ...fault.headers,
  });
  const end = Math.min(fault.cutAfterBytes ?? Infinity, fault.silentAfterBytes ?? Infinity);
  if (end === Infinity) {
    response.end(body);
    return;
  }
  // Sent before the socket goes: what was written is given to the client first.
  response.write(body.subarray(0, end), () => {
    if (fault.cutAfterBytes !== undefined) response.socket?.destroySoon();
  });
  if (end === 0) response.flushHeaders();
}
