import * as z from 'zod';
import { DownloadError } from '../download/download-error.ts';
import { guardedGet, hostOf, readJson, type Fetch } from '../download/guarded-get.ts';
import { retrying, type RetryPolicy } from '../download/retry.ts';

/*
 * Reads a Python package index through its "simple" API in JSON (PEP 691, "Simple repository API" of the Python packaging
 * specifications). The user names the index.
 */

const MAX_ANSWER_BYTES = 32 * 1_048_576;
const ANSWER_TIMEOUT_MS = 30_000;

const projectSchema = z.object({
  files: z.array(z.object({
    filename: z.string(),
    url: z.string(),
    hashes: z.record(z.string(), z.string()),
  })),
});

export interface IndexOptions {
  /** The base address, such as `https://…/simple`. It may contain credentials, which are sent only to its origin. */
  readonly index: string;
  readonly fetch: Fetch;
  readonly retry: RetryPolicy;
  readonly signal: AbortSignal;
}

/**
 * The address of a project's file in the index.
 * @throws DownloadError, also if the index has a different file under that name
 */
export async function findInIndex(
  { index, fetch, retry, signal }: IndexOptions,
  { project, fileName, sha256 }: { readonly project: string; readonly fileName: string; readonly sha256: string },
): Promise<string> {
  const address = `${index.replace(/\/+$/, '')}/${project}/`;
  const page = await retrying(() => readPage({ address, project, fetch, signal }), retry, signal);
  const file = page.files.find(({ filename }) => filename === fileName);
  if (!file || !URL.canParse(file.url, page.address)) {
    throw new DownloadError('not-found', `${hostOf(index)} has no ${fileName}: choose another package index.`);
  }
  if (file.hashes.sha256 !== undefined && file.hashes.sha256.toLowerCase() !== sha256) {
    const found = `${hostOf(index)} has another ${fileName} than the one that works`;
    throw new DownloadError('checksum', `${found}: choose another package index.`);
  }
  return withAccountOf(index, new URL(file.url, page.address));
}

interface Page extends z.infer<typeof projectSchema> {
  /** The base of its relative addresses. */
  readonly address: string;
}

async function readPage({ address, project, fetch, signal }: {
  readonly address: string; readonly project: string; readonly fetch: Fetch; readonly signal: AbortSignal;
}): Promise<Page> {
  const host = hostOf(address);
  const timeout = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
  try {
    const response = await guardedGet({
      url: address,
      headers: { accept: 'application/vnd.pypi.simple.v1+json' },
      what: project,
      signal: AbortSignal.any([signal, timeout]),
      fetch,
    });
    const isJson = /^application\/(vnd\.pypi\.simple\.v1\+)?json\b/.test(response.headers.get('content-type') ?? '');
    if (!isJson) {
      await response.body?.cancel();
      const missing = 'does not speak the JSON form of a package index (PEP 691)';
      throw new DownloadError('bad-answer', `${host} ${missing}: choose another one.`);
    }
    const parsed = projectSchema.safeParse(await readJson(response, MAX_ANSWER_BYTES, project));
    if (!parsed.success) {
      throw new DownloadError('bad-answer', `${host} does not answer as a package index does: check its address.`);
    }
    return { ...parsed.data, address: response.url || address };
  } catch (error) {
    if (!timeout.aborted || signal.aborted) throw error;
    throw new DownloadError('network', `${host} does not answer: check the connection, then try again.`, { cause: error });
  }
}

/** Adds the index's credentials to a file on the same origin, which usually needs them too. */
function withAccountOf(index: string, file: URL): string {
  const { origin, username, password } = new URL(index);
  if (file.origin !== origin) return file.href;
  file.username = username;
  file.password = password;
  return file.href;
}
