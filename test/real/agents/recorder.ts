import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';

export interface Exchange {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, unknown>>;
  /** As JSON where it is; absent if there is none. */
  readonly body?: unknown;
  readonly status: number;
}

/** Longer texts say nothing more about a client's form. What is said is kept longer than what is described. */
const MAX_TEXT = { said: 600, other: 120 } as const;
/** Tools of a request that are kept: their forms are alike. */
const MAX_TOOLS = 4;
/** Headers that tell of the machine or of one connection. */
const LEFT_OUT = /^(?:host|connection|content-length|accept-encoding|user-agent|x-stainless-.*|traceparent|x-codex-.*)$/;
/** Ids that a client makes for its machine or session, as text inside of values. */
const IDS = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{64}/g;

/** Stands between a client and a server, hands everything on as it comes, and keeps what was sent. */
export class Recorder {
  readonly exchanges: Exchange[] = [];
  readonly #server: Server;

  private constructor(target: URL) {
    this.#server = createServer((asked, response) => void this.#pass(asked, response, target));
  }

  /** @param origin of the server, such as `http://127.0.0.1:4100` */
  static async start(origin: string): Promise<Recorder> {
    const recorder = new Recorder(new URL(origin));
    await new Promise<void>((resolve) => recorder.#server.listen(0, '127.0.0.1', resolve));
    return recorder;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Writes what was sent, without what tells of the person or the machine. @param names what stands for texts that are replaced */
  async keep(file: string, names: Readonly<Record<string, string>>): Promise<void> {
    const named = Object.entries(names).reduce((text, [from, to]) => text.replaceAll(from, to), JSON.stringify(this.exchanges));
    const kept = (JSON.parse(named.replace(IDS, 'ID')) as Exchange[]).map(({ headers, body, ...rest }) => ({
      ...rest, headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !LEFT_OUT.test(name))), ...(body !== undefined && { body: shortened(body) }),
    }));
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, `${JSON.stringify(kept, undefined, 1)}\n`);
  }

  async #pass(asked: IncomingMessage, response: ServerResponse, target: URL): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of asked) chunks.push(chunk as Buffer);
    const sent = Buffer.concat(chunks);
    const { method = 'GET', url = '/', headers } = asked;
    const passed = request(new URL(url, target), { method, headers: { ...headers, host: target.host } }, (answer) => {
      const status = answer.statusCode ?? 0;
      this.exchanges.push({ method, url, headers, ...(sent.length > 0 && { body: jsonIn(sent.toString('utf8')) }), status });
      response.writeHead(status, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', () => response.destroy());
    response.on('close', () => passed.destroy());
    passed.end(sent);
  }
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function shortened(value: unknown, limit: number = MAX_TEXT.other, name = ''): unknown {
  if (typeof value === 'string') return value.length > limit ? `${value.slice(0, limit)}…` : value;
  if (Array.isArray(value)) return (name === 'tools' ? fewTools(value) : value).map((one) => shortened(one, limit));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, shortened(one, key === 'messages' || key === 'input' ? MAX_TEXT.said : limit, key)]));
}

/** One of each form, those that the transcript calls among them. */
function fewTools(tools: readonly unknown[]): unknown[] {
  const isCalled = (tool: unknown): boolean => /"(?:Read|Write|Bash|read|write|bash|read_file|write_file|run_shell_command|shell|shell_command|exec_command)"/.test(JSON.stringify(tool).slice(0, 120));
  const others = tools.filter((tool) => !isCalled(tool));
  const byType = [...new Map(others.map((tool) => [(tool as { type?: unknown }).type, tool])).values()];
  return [...tools.filter(isCalled), ...byType].slice(0, MAX_TOOLS + byType.length);
}
