import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ToolError } from './allowed-folder.ts';

const MAX_BODY_BYTES = 64 * 1024;
const MAX_KEY_CHARACTERS = 8_192;
/** A person who does not come by then is not at the machine; the next call asks again. */
const OPEN_MS = 10 * 60 * 1_000;

/** The page's own style is the one thing that it loads. */
const STYLE = 'body{font:16px system-ui;max-width:34em;margin:3em auto;padding:0 1em}label{display:block;margin:1em 0}input{display:block;width:100%;font:inherit}';
const HEADERS = {
  'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer', 'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
};

interface Asked {
  readonly path: string;
  readonly names: readonly string[];
  /** Resolves when the keys are there, and rejects when the page is closed before. */
  readonly entered: Promise<void>;
  readonly settle: (error?: Error) => void;
}

/**
 * A page on 127.0.0.1 on which a person enters keys of workers, as MCP's elicitation by URL wants it: secrets do not pass through the client, nor
 * through a model. The keys stay in this process's memory. Each question has an address of its own that cannot be guessed and is used once.
 */
export class KeyPage {
  readonly #keys = new Map<string, string>();
  #server: Promise<Server> | undefined;
  #asked: Asked | undefined;

  /** A key that was entered. */
  readonly get = (name: string): string | undefined => this.#keys.get(name);

  /** Opens the page for these keys, or returns its address if it is open for them. */
  async ask(names: readonly string[]): Promise<string> {
    const server = await (this.#server ??= this.#listen());
    if (this.#asked?.names.join('\n') !== names.join('\n')) {
      this.#asked?.settle(new ToolError('The page for keys was closed, because other keys are asked for.'));
      this.#asked = this.#question(names);
    }
    return `${originOf(server)}${this.#asked?.path ?? ''}`;
  }

  /** Waits until the keys that were asked for are entered. @throws ToolError if nobody enters them in time, or the signal's reason */
  async entered(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    const abort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    try {
      await Promise.race([this.#asked?.entered, aborted]);
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  async close(): Promise<void> {
    this.#asked?.settle(new ToolError('The page for keys was closed.'));
    const server = await this.#server;
    server?.closeAllConnections();
    server?.close();
  }

  async #listen(): Promise<Server> {
    const server = createServer((request, response) => {
      this.#answer(request, response, server).catch(() => response.destroy());
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    return server;
  }

  #question(names: readonly string[]): Asked {
    const { promise: entered, resolve, reject } = Promise.withResolvers<void>();
    // Nobody may be waiting.
    entered.catch(() => {});
    const timer = setTimeout(() => settle(new ToolError('The keys were not entered within ten minutes. Call again to be asked again.')), OPEN_MS).unref();
    const settle = (error?: Error): void => {
      clearTimeout(timer);
      if (this.#asked === asked) this.#asked = undefined;
      if (error) reject(error);
      else resolve();
    };
    const asked: Asked = { path: `/keys/${randomBytes(32).toString('base64url')}`, names, entered, settle };
    return asked;
  }

  async #answer(request: IncomingMessage, response: ServerResponse, server: Server): Promise<void> {
    const send = (status: number, body: string): void => void response.writeHead(status, HEADERS).end(pageOf(body));
    const origin = originOf(server);
    // Another name for this machine is how a web page would reach it, and another origin is where its form would come from.
    if (`http://${request.headers.host}` !== origin) return send(421, '<p>This page is read at its own address alone.</p>');
    const asked = this.#asked;
    if (!asked || !isSame(request.url ?? '', asked.path)) return send(404, '<p>This page is not open any more. Ask your agent again.</p>');
    if (request.method === 'GET') return send(200, formOf(asked));
    if (request.method !== 'POST') return send(405, '<p>This page takes a form.</p>');
    if (request.headers.origin !== origin) return send(403, '<p>This form came from another page.</p>');
    const given = new URLSearchParams(await bodyOf(request));
    const values = asked.names.map((name) => (given.get(name) ?? '').trim());
    if (values.some((value) => value === '' || value.length > MAX_KEY_CHARACTERS || /[\p{Cc}\s]/u.test(value))) return send(400, `<p>Each key is one word.</p>${formOf(asked)}`);
    asked.names.forEach((name, index) => this.#keys.set(name, values[index] ?? ''));
    asked.settle();
    send(200, '<p>Conductor has the keys until its server for your agent ends. You can close this page.</p>');
  }
}

const originOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

const isSame = (one: string, other: string): boolean => {
  const [first, second] = [one, other].map((text) => createHash('sha256').update(text).digest()) as [Buffer, Buffer];
  return timingSafeEqual(first, second);
};

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length;
    if (bytes > MAX_BODY_BYTES) throw new Error('The form is too large.');
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Names of keys are names of environment variables, by the schema of workers.json; quotes and the like are replaced all the same. */
const safe = (text: string): string => text.replaceAll(/[^\w.-]/g, '?');

const formOf = ({ names }: Asked): string => `<form method="post" autocomplete="off">${names.map((name) =>
  `<label>${safe(name)}<input type="password" name="${safe(name)}" required spellcheck="false" autocomplete="off"></label>`).join('')}<button>Give them to Conductor</button></form>`;

const pageOf = (body: string): string => '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Keys for Conductor</title>'
  + `<style>${STYLE}</style></head><body><h1>Keys for Conductor</h1><p>Workers of Conductor need keys. They stay in its memory on this machine, and your agent and its model do not see them.</p>${body}</body></html>`;
