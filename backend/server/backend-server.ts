import 'vscode-jsonrpc/node';
import { createServer, STATUS_CODES, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';
import { CHALLENGE_HEADER, PROOF_HEADER, proofOf } from '../protocol/client/backend-proof.ts';
import { MAX_MESSAGE_BYTES } from '../protocol/methods.ts';
import { CLOSE_CODES, closeReason } from '../protocol/socket-connection.ts';
import { ClientSession, DEFAULT_LIMITS, type SessionDependencies, type SessionLimits } from './client-session.ts';
import { refuseUpgrade } from './upgrade-check.ts';

export interface BackendServerOptions extends Omit<SessionDependencies, 'limits'> {
  /** The token that clients must send. */
  readonly token: string;
  readonly limits?: Partial<SessionLimits>;
}

/** How long to wait for clients to close their sockets before terminating them. */
const CLOSE_TIMEOUT_MS = 1_000;

/** How long a connection may take to say what it wants. A client says it at once. */
const REQUEST_TIMEOUT_MS = 5_000;
/** Connections that have not said what they want yet. With one more, the oldest is closed, so that a client always finds a place. */
const MAX_PENDING_CONNECTIONS = 32;

/** For an oversized message `ws` closes the connection with a code only. This adds a reason. */
class ExplainingWebSocket extends WebSocket {
  override close(code?: number, reason?: string | Buffer): void {
    const tooLarge = code === CLOSE_CODES.tooLarge && reason === undefined;
    super.close(code, tooLarge ? `A message may hold at most ${MAX_MESSAGE_BYTES / 1024 / 1024} MiB.` : reason);
  }
}

/** Listens on the loopback interface for clients that know the token. */
export class BackendServer {
  readonly #options: BackendServerOptions;
  readonly #http: Server;
  readonly #sockets: WebSocketServer;
  /** Connections without a WebSocket, the oldest first. */
  readonly #pending = new Set<Duplex>();
  #closing = false;

  constructor(options: BackendServerOptions) {
    this.#options = options;
    this.#sockets = new WebSocketServer({
      noServer: true, maxPayload: MAX_MESSAGE_BYTES, perMessageDeflate: false, WebSocket: ExplainingWebSocket,
    });
    const timeouts = {
      requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS, connectionsCheckingInterval: REQUEST_TIMEOUT_MS / 5, keepAlive: false,
    };
    this.#http = createServer(timeouts, (_request, response) => {
      response.writeHead(404, { 'content-type': 'application/json', connection: 'close' });
      response.end(JSON.stringify({ error: 'This is the Conductor backend: it speaks JSON-RPC over a WebSocket.' }));
    });
    this.#sockets.on('headers', (headers, { headers: { [CHALLENGE_HEADER]: challenge } }) => {
      if (typeof challenge === 'string') headers.push(`${PROOF_HEADER}: ${proofOf(options.token, challenge)}`);
    });
    // Nothing was asked that could be answered, and a peer that never hangs up must not hold a descriptor.
    this.#http.on('clientError', (_error, socket) => socket.destroy());
    this.#http.on('connection', (socket) => this.#admit(socket));
    this.#http.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head));
  }

  /** Listens on a port that the system chooses. */
  async listen(): Promise<{ port: number }> {
    await new Promise<void>((resolve, reject) => {
      this.#http.once('error', reject);
      this.#http.listen(0, '127.0.0.1', () => resolve());
    });
    return { port: (this.#http.address() as AddressInfo).port };
  }

  /** How many connections are open, with those that have not said what they want. */
  connections(): Promise<number> {
    return new Promise((resolve, reject) => this.#http.getConnections((error, count) => (error ? reject(error) : resolve(count))));
  }

  /** Refuses new connections, closes the existing ones with a reason, and resolves when all are closed. */
  async close(reason = 'The backend is ending.'): Promise<void> {
    this.#closing = true;
    const closed = new Promise<void>((resolve) => this.#http.close(() => resolve()));
    for (const socket of this.#sockets.clients) socket.close(CLOSE_CODES.goingAway, closeReason(reason));
    const cut = setTimeout(() => {
      for (const socket of this.#sockets.clients) socket.terminate();
      this.#http.closeAllConnections();
    }, CLOSE_TIMEOUT_MS);
    this.#http.closeIdleConnections();
    await closed;
    clearTimeout(cut);
  }

  #admit(socket: Duplex): void {
    this.#pending.add(socket);
    socket.once('close', () => this.#pending.delete(socket));
    const [oldest] = this.#pending;
    if (this.#pending.size > MAX_PENDING_CONNECTIONS) oldest?.destroy();
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const refusal = refuseUpgrade(request, this.#options.token);
    if (refusal) return refuse(socket, refusal.status, refusal.message);
    if (this.#closing) return refuse(socket, 503, 'The backend is ending: try again.');
    this.#sockets.handleUpgrade(request, socket, head, (webSocket) => {
      this.#pending.delete(socket);
      const { limits, ...dependencies } = this.#options;
      new ClientSession(webSocket, { ...dependencies, limits: { ...DEFAULT_LIMITS, ...limits } });
    });
  }
}

/** Closes both directions: a peer that never closes its own must not hold a descriptor or delay the backend's exit. */
function refuse(socket: Duplex, status: number, message: string): void {
  socket.on('error', () => undefined);
  const body = JSON.stringify({ error: message });
  socket.end([
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    '', body,
  ].join('\r\n'), () => socket.destroy());
}
