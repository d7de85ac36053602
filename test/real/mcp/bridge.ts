import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';

/** Of JSON-RPC (https://www.jsonrpc.org/specification) what a bridge looks at. */
interface Message {
  readonly id?: string | number;
  readonly method?: string;
}

/** One server on standard input and output. */
class StdioServer {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<string | number, (line: string) => void>();

  constructor([command = '', ...args]: readonly string[], env: NodeJS.ProcessEnv) {
    this.#child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
    createInterface({ input: this.#child.stdout! }).on('line', (line) => {
      const { id, method } = JSON.parse(line) as Message;
      if (id !== undefined && method === undefined) this.#waiting.get(id)?.(line);
      else console.error(`The server sent ${method}, which the bridge does not carry.`);
    });
  }

  /** @returns the response; undefined for a notification */
  async send(line: string): Promise<string | undefined> {
    const { id, method } = JSON.parse(line) as Message;
    const response = id === undefined || method === undefined ? undefined : new Promise<string>((resolve) => this.#waiting.set(id, resolve));
    this.#child.stdin!.write(`${line}\n`);
    return response;
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const closed = once(this.#child, 'close');
    this.#child.stdin!.end();
    await closed;
  }
}

/**
 * MCP's Streamable HTTP (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports) in front of a server on standard input and output, as far as a client
 * needs it that only asks: one server a session, one JSON response a request.
 */
export async function bridge(command: readonly string[], env: NodeJS.ProcessEnv): Promise<{ readonly url: string; close(): Promise<void> }> {
  const sessions = new Map<string, StdioServer>();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const line = JSON.stringify(JSON.parse(await text(request)));
    const given = request.headers['mcp-session-id'];
    const session = typeof given === 'string' ? given : randomUUID();
    const server = sessions.get(session) ?? new StdioServer(command, env);
    sessions.set(session, server);
    const result = await server.send(line);
    response.setHeader('mcp-session-id', session);
    if (result === undefined) response.writeHead(202).end();
    else response.writeHead(200, { 'content-type': 'application/json' }).end(result);
  };
  const http = createServer((request, response) => void answer(request, response).catch((error: unknown) => response.writeHead(400).end(String(error))));
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    close: async () => {
      http.closeAllConnections();
      http.close();
      await Promise.all([...sessions.values()].map((server) => server.close()));
    },
  };
}
