import { connect, type Server, type Socket } from 'node:net';
import path from 'node:path';
import { createHttpProxyServer } from '@anthropic-ai/sandbox-runtime/dist/sandbox/http-proxy.js';
import { resolveParentProxy } from '@anthropic-ai/sandbox-runtime/dist/sandbox/parent-proxy.js';
import { CHANNEL } from '../process-group.ts';
import { shellQuote } from '../shell-quote.ts';
import { allowedHost, HostError, isAllowed, type AllowedHost } from './hosts.ts';

/** Where the proxy is, inside the sandbox. */
const PROXY_PORT = 3128;
const OTHER_PROXY_PORT = 3129;

/**
 * Opens listening sockets in the sandbox's own network and sends them out. The network is empty but for its loopback, and a socket stays in
 * the network in which it was made: who accepts its connections outside decides where they lead. So no other door has to be cut.
 */
const LISTEN = [
  'const net = require("node:net");',
  'const ports = process.argv.slice(1).map(Number);',
  'let left = ports.length;',
  'for (const port of ports) {',
  '  const server = net.createServer();',
  '  server.listen(port, "127.0.0.1", () => process.send({ port }, server, (error) => { if (error) process.exit(1); if (--left === 0) process.exit(0); }));',
  '}',
].join('');

/**
 * What a command in the sandbox may reach: hosts through a proxy that knows no others, and servers on this machine at their own addresses.
 * The proxy accepts in our process, so a command cannot change it.
 */
export class Reach {
  readonly #hosts: readonly AllowedHost[];
  readonly #proxyPort: number;
  readonly #proxy: ReturnType<typeof createHttpProxyServer>;
  readonly #servers = new Set<Server>();
  readonly #sockets = new Set<Socket>();

  /** @param hosts as `allowedHost` reads them. @throws HostError */
  constructor(hosts: readonly string[]) {
    this.#hosts = hosts.map((written) => {
      const host = allowedHost(written);
      if (!host) throw new HostError(`"${written}" is no host: write one as api.example.com, or as 127.0.0.1:11434 for a server on this machine, from port 1024 on.`);
      return host;
    });
    this.#proxyPort = this.#herePorts.includes(PROXY_PORT) ? OTHER_PROXY_PORT : PROXY_PORT;
    // A machine whose own way out is a proxy has none other.
    const parentProxy = resolveParentProxy(undefined);
    this.#proxy = createHttpProxyServer({
      filter: (port, host) => isAllowed(this.#hosts, host, port),
      ...(parentProxy && { parentProxy }),
    });
  }

  get #herePorts(): number[] {
    return [...new Set(this.#hosts.filter(({ isHere }) => isHere).map(({ port }) => port))];
  }

  /** Variables by which programs find the proxy. */
  get environment(): Readonly<Record<string, string>> {
    const proxy = `http://127.0.0.1:${this.#proxyPort}`;
    const here = '127.0.0.1,localhost,::1';
    return { HTTPS_PROXY: proxy, https_proxy: proxy, HTTP_PROXY: proxy, http_proxy: proxy, NO_PROXY: here, no_proxy: here, NODE_USE_ENV_PROXY: '1' };
  }

  /** Shell lines that open the way. They end the script if it cannot be opened. What follows them cannot open another one. */
  get script(): string {
    const ports = [this.#proxyPort, ...this.#herePorts];
    return [
      `NODE_CHANNEL_FD=${CHANNEL} ELECTRON_RUN_AS_NODE=1 ${shellQuote(process.execPath)} -e ${shellQuote(LISTEN)} ${ports.join(' ')} || { echo "The network of the sandbox could not be opened." >&2; exit 1; }`,
      `exec ${CHANNEL}>&-; unset NODE_CHANNEL_FD NODE_CHANNEL_SERIALIZATION_MODE`,
    ].join('\n');
  }

  /** A folder that must be readable for `script`. */
  get program(): string {
    return path.dirname(process.execPath);
  }

  /** For `ProcessOptions.onListening`. */
  readonly accept = (server: Server, port: number): void => {
    this.#servers.add(server);
    server.on('error', () => undefined);
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => this.#sockets.delete(socket));
      if (port === this.#proxyPort) this.#proxy.emit('connection', socket);
      else if (this.#herePorts.includes(port)) this.#joinHere(socket, port);
      else socket.destroy();
    });
  };

  close(): void {
    for (const server of this.#servers) server.close();
    for (const socket of this.#sockets) socket.destroy();
    this.#proxy.closeAllConnections();
  }

  #joinHere(socket: Socket, port: number): void {
    const there = connect(port, '127.0.0.1');
    there.on('error', () => socket.destroy());
    there.on('close', () => socket.destroy());
    socket.on('close', () => there.destroy());
    socket.pipe(there).pipe(socket);
  }
}
