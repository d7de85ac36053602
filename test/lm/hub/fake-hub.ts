import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { sendFile, TestServer, type Fault, type Seen } from '../download/file-server.ts';
import { sha256 } from '../download/tools.ts';

export interface FakeFile {
  readonly name: string;
  readonly content: Buffer;
  /** Kept in LFS: redirected to storage on another host, listed with its SHA-256. */
  readonly isLarge?: boolean;
}

/** Which request goes wrong, and how; faults of a path are used up one after another. */
export type Faults = Readonly<Record<string, readonly Fault[]>>;

const PAGE = 3;

/**
 * Speaks the part of the hub's API that a download needs, as https://huggingface.co/docs/hub/api and the library's own sources have it:
 * model info by revision, tree listing in pages with a Link header, resolve with a redirect to storage.
 */
export class FakeHub {
  readonly repo = 'acme/small-model';
  commit = '0123456789abcdef0123456789abcdef01234567';
  files: readonly FakeFile[];
  /** Only requests with this token get past. */
  token: string | undefined;
  /** Faults by path; "storage:" before a name means the second host. */
  readonly #faults: Map<string, Fault[]>;
  readonly #api: TestServer;
  readonly #storage: TestServer;

  private constructor(files: readonly FakeFile[], faults: Faults, api: TestServer, storage: TestServer) {
    this.files = files;
    this.#faults = new Map(Object.entries(faults).map(([path, list]) => [path, [...list]]));
    this.#api = api;
    this.#storage = storage;
  }

  static async start(files: readonly FakeFile[], faults: Faults = {}): Promise<FakeHub> {
    const api = await TestServer.start((request, response) => hub.#answer(request, response));
    const storage = await TestServer.start((request, response) => hub.#store(request, response));
    const hub = new FakeHub(files, faults, api, storage);
    return hub;
  }

  get url(): string {
    return this.#api.url;
  }

  /** Requests to the hub itself, and to its storage. */
  get asked(): readonly Seen[] {
    return this.#api.seen;
  }

  get stored(): readonly Seen[] {
    return this.#storage.seen;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#api.close();
    await this.#storage.close();
  }

  #answer(request: Seen, response: ServerResponse): void {
    const url = new URL(request.path, this.url);
    const isOpen = this.token === undefined || request.authorization === `Bearer ${this.token}`;
    const fault = this.#take(url.pathname);
    if (fault?.status !== undefined) return void response.writeHead(fault.status, fault.headers).end('{"error":"<b>no</b>"}');
    if (!isOpen) return void response.writeHead(401, { 'x-error-code': 'GatedRepo' }).end();
    const api = `/api/models/${this.repo}`;
    if (url.pathname === `${api}/revision/main` || url.pathname === `${api}/revision/${this.commit}`) {
      const flags = { private: false, gated: false, downloads: 0, likes: 0, lastModified: '2026-01-01T00:00:00Z' };
      return this.#json(response, { _id: '1', id: this.repo, sha: this.commit, ...flags });
    }
    if (url.pathname === `${api}/tree/${this.commit}`) return this.#tree(url, response);
    const name = decodeURIComponent(url.pathname.replace(`/${this.repo}/resolve/${this.commit}/`, ''));
    const file = this.files.find((candidate) => candidate.name === name);
    if (!file) return void response.writeHead(404, { 'x-error-code': 'RevisionNotFound' }).end();
    if (file.isLarge) {
      return void response.writeHead(302, { location: `${this.#storage.url}/${name}?signature=${this.#storage.seen.length}` }).end();
    }
    sendFile(request, response, file.content, fault);
  }

  #store(request: Seen, response: ServerResponse): void {
    const name = new URL(request.path, this.#storage.url).pathname.slice(1);
    const file = this.files.find((candidate) => candidate.name === name);
    sendFile(request, response, file?.content ?? Buffer.alloc(0), this.#take(`storage:${name}`));
  }

  #tree(url: URL, response: ServerResponse): void {
    const at = Number(url.searchParams.get('cursor') ?? 0);
    const page = this.files.slice(at, at + PAGE).map(({ name, content, isLarge }) => ({
      type: 'file', path: name, size: content.length, oid: gitBlob(content),
      ...(isLarge ? { lfs: { oid: sha256(content).hex, size: content.length, pointerSize: 134 } } : {}),
    }));
    const folder = { type: 'directory', path: 'onnx', size: 0, oid: gitBlob(Buffer.from('onnx')) };
    const next = new URL(url);
    next.searchParams.set('cursor', String(at + PAGE));
    const hasNext = at + PAGE < this.files.length;
    this.#json(response, at === 0 ? [folder, ...page] : page, hasNext ? { link: `<${next.href}>; rel="next"` } : {});
  }

  #json(response: ServerResponse, value: unknown, headers: Record<string, string> = {}): void {
    response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
  }

  #take(path: string): Fault | undefined {
    return this.#faults.get(path)?.shift();
  }
}

export function gitBlob(content: Buffer): string {
  return createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
}
