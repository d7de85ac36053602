import { HUB_URL, listFiles, modelInfo } from '@huggingface/hub';
import * as z from 'zod';
import type { Checksum } from '../download/checksum.ts';
import { DownloadError } from '../download/download-error.ts';
import { guardedGet, hostOf, readJson, type Fetch } from '../download/guarded-get.ts';
import { retrying, type RetryPolicy } from '../download/retry.ts';
import { HubError, toHubError } from './hub-error.ts';

/** A file in the top folder of a model's repository. */
export interface HubFile {
  readonly name: string;
  readonly sizeBytes: number;
  readonly checksum: Checksum;
}

export interface HubOptions {
  /** The address of the hub or a mirror; by default that of the hub library. */
  readonly endpoint?: string | undefined;
  readonly token?: string | undefined;
  readonly fetch: Fetch;
  readonly retry: RetryPolicy;
  readonly signal: AbortSignal;
}

const COMMIT = /^[0-9a-f]{40}$/;
/** A model's repository has a few dozen files. A longer listing is refused. */
const MAX_FILES = 5_000;
const MAX_ANSWER_BYTES = 16 * 1_048_576;
const ANSWER_TIMEOUT_MS = 30_000;

const fileSize = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
const treeEntry = z.object({
  type: z.string(),
  path: z.string().max(1_024),
  size: fileSize,
  oid: z.string().regex(/^[0-9a-f]{40}$/),
  lfs: z.object({ oid: z.string().regex(/^[0-9a-f]{64}$/), size: fileSize }).optional(),
});

/** The part of the hub's API that a download needs, through the hub's library with our HTTP client. */
export class HubClient {
  readonly endpoint: string;
  readonly #options: HubOptions;

  constructor(options: HubOptions) {
    this.endpoint = (options.endpoint ?? HUB_URL).replace(/\/+$/, '');
    this.#options = options;
  }

  get host(): string {
    return hostOf(this.endpoint);
  }

  /** The header with the token; sent only to the hub's own origin. */
  get secretHeaders(): Readonly<Record<string, string>> {
    const { token } = this.#options;
    return token === undefined ? {} : { authorization: `Bearer ${token}` };
  }

  /** The address of a file's content; the hub redirects it to its storage. */
  fileUrl(repo: string, commit: string, name: string): string {
    return `${this.endpoint}/${repo}/resolve/${commit}/${encodeURIComponent(name)}`;
  }

  /**
   * The commit that a branch or tag currently points to.
   * @throws HubError
   */
  async commitOf(repo: string, revision: string): Promise<string> {
    const info = await this.#ask(repo, revision, () =>
      modelInfo({ name: repo, revision, additionalFields: ['sha'], hubUrl: this.endpoint, fetch: this.#fetch(repo) }));
    if (typeof info.sha === 'string' && COMMIT.test(info.sha)) return info.sha;
    throw new HubError('bad-answer', `${this.host} does not return the commit of "${revision}" of ${repo}: check that it is a hub.`);
  }

  /**
   * The files of the top folder, without subfolders.
   * @throws HubError
   */
  async listFiles(repo: string, commit: string): Promise<HubFile[]> {
    const entries = await this.#ask(repo, commit, async () => {
      const found: unknown[] = [];
      const named = { type: 'model', name: repo } as const;
      for await (const entry of listFiles({ repo: named, revision: commit, hubUrl: this.endpoint, fetch: this.#fetch(repo) })) {
        if (found.push(entry) > MAX_FILES) throw new HubError('bad-answer', `${repo} lists too many files to be a model.`);
      }
      return found;
    });
    const parsed = z.array(treeEntry).safeParse(entries);
    if (!parsed.success) {
      throw new HubError('bad-answer', `${this.host} lists the files of ${repo} in an unknown format: check that it is a hub.`);
    }
    return parsed.data
      .filter(({ type, path }) => type === 'file' && !/[\\/]/.test(path))
      .map(({ path, size, oid, lfs }) =>
        lfs
          ? { name: path, sizeBytes: lfs.size, checksum: { algorithm: 'sha256', hex: lfs.oid } }
          : { name: path, sizeBytes: size, checksum: { algorithm: 'git-blob', hex: oid } });
  }

  async #ask<T>(repo: string, revision: string, question: () => Promise<T>): Promise<T> {
    const { retry, signal, token } = this.#options;
    try {
      return await retrying(question, retry, signal);
    } catch (error) {
      signal.throwIfAborted();
      const asked = { repo, revision, host: this.host, hasToken: token !== undefined };
      if (error instanceof HubError || error instanceof DownloadError) throw toHubError(error, asked);
      // The library did not understand the answer. Its message is not for users.
      throw new HubError('bad-answer', `${this.host} answers for ${repo} in an unknown format: check that it is a hub.`, error);
    }
  }

  /**
   * The fetch function of the library. It turns error responses into our errors before the library reads them, and fetches pages
   * of a listing only from the hub itself. It adds the token, because the library accepts only tokens that begin with "hf_".
   */
  #fetch(repo: string): typeof globalThis.fetch {
    return async (input) => {
      const url = input instanceof Request ? input.url : String(input);
      if (!URL.canParse(url) || new URL(url).origin !== new URL(this.endpoint).origin) {
        throw new HubError('bad-answer', `${this.host} refers to another host for the files of ${repo}, which is not allowed.`);
      }
      const { fetch, signal } = this.#options;
      const timeout = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
      try {
        const response = await guardedGet({
          url,
          headers: { accept: 'application/json' },
          secretHeaders: this.secretHeaders,
          what: repo,
          signal: AbortSignal.any([signal, timeout]),
          fetch,
        });
        const answer = await readJson(response, MAX_ANSWER_BYTES, repo);
        const link = response.headers.get('link');
        return Response.json(answer, { headers: link === null ? {} : { link } });
      } catch (error) {
        if (timeout.aborted && !signal.aborted) {
          const message = `${this.host} does not answer: check the connection, then try again.`;
          throw new DownloadError('network', message, { cause: error });
        }
        throw error;
      }
    };
  }
}
