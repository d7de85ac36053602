import { DownloadError, type DownloadErrorKind } from './download-error.ts';

/*
 * GET over https. Follows redirects itself, so that a token is sent only to the host for which it was given.
 */

export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

export interface GetRequest {
  /** May contain `user:password@`, like addresses of package indexes. It is sent as a header, only to that origin. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Sent only to the origin of `url`, such as a token. */
  readonly secretHeaders?: Readonly<Record<string, string>> | undefined;
  /** The name of the requested file or model, for error messages. */
  readonly what: string;
  readonly signal: AbortSignal;
  readonly fetch: Fetch;
}

/** A hub needs one or two: for a renamed repository and for its storage. */
const MAX_REDIRECTS = 5;
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Sends one request. Resolves with a response of status 200 or 206. The caller must read or cancel its body.
 * @throws DownloadError; the signal's reason after it aborted
 */
export async function guardedGet(request: GetRequest): Promise<Response> {
  const start = parseAddress(request.url, request.what);
  let target = start.url;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
    const secret = target.origin === start.url.origin ? { ...start.authorization, ...request.secretHeaders } : {};
    const response = await send(target, { ...request.headers, ...secret }, request);
    if (response.status === 200 || response.status === 206) return response;
    await response.body?.cancel();
    if (response.status < 300 || response.status >= 400) throw refusal(response, target, request.what);
    target = nextAddress(response, target, start.url, request.what);
  }
  throw new DownloadError('refused-address', `${start.url.host} redirects ${request.what} without an end.`);
}

/** The host of an address for messages, without path, query or password. */
export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'the server';
}

/** Parses the body as JSON. Fails if it is larger than `maxBytes`. */
export async function readJson(response: Response, maxBytes: number, what: string): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > maxBytes) throw new DownloadError('bad-answer', `The answer for ${what} is too large.`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch (error) {
    throw new DownloadError('bad-answer', `The answer for ${what} is not JSON.`, { cause: error });
  }
}

/** The error for a failed connection. */
export function networkError(host: string, what: string, error: unknown): DownloadError {
  const code = networkCode(error);
  const where = `${host}${code ? ` (${code})` : ''}`;
  const message = `${what} could not be fetched from ${where}: check the connection, then try again; what was fetched is kept.`;
  return new DownloadError('network', message, { cause: error });
}

interface Address {
  readonly url: URL;
  readonly authorization: Readonly<Record<string, string>>;
}

function parseAddress(text: string, what: string): Address {
  if (!URL.canParse(text)) throw new DownloadError('refused-address', `The address of ${what} is not a web address.`);
  const url = new URL(text);
  const isPrivate = url.protocol === 'http:' && LOOPBACK.has(url.hostname);
  if (url.protocol !== 'https:' && !isPrivate) {
    const host = url.host || 'The address';
    throw new DownloadError('refused-address', `${host} is not reached over https; give another address for ${what}.`);
  }
  const { username, password } = url;
  url.username = '';
  url.password = '';
  if (username === '' && password === '') return { url, authorization: {} };
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { url, authorization: { authorization: `Basic ${Buffer.from(pair).toString('base64')}` } };
}

function nextAddress(response: Response, from: URL, start: URL, what: string): URL {
  const location = response.headers.get('location') ?? '';
  const refused = (): DownloadError =>
    new DownloadError('refused-address', `${from.host} redirects ${what} to an address that is not followed.`);
  if (location === '' || !URL.canParse(location, from)) throw refused();
  const next = new URL(location, from);
  // A server on the network must not redirect to a server on this machine.
  const isLocal = LOOPBACK.has(start.hostname) && LOOPBACK.has(next.hostname) && next.protocol === 'http:';
  const stays = next.protocol === 'https:' || isLocal;
  if (!stays || next.username !== '' || next.password !== '') throw refused();
  return next;
}

async function send(url: URL, headers: Record<string, string>, { signal, fetch, what }: GetRequest): Promise<Response> {
  try {
    // No compression, because ranges refer to the bytes sent and checksums to the bytes of the file.
    return await fetch(url, { headers: { 'accept-encoding': 'identity', ...headers }, redirect: 'manual', signal });
  } catch (error) {
    signal.throwIfAborted();
    throw networkError(url.host, what, error);
  }
}

function refusal(response: Response, url: URL, what: string): DownloadError {
  const { status } = response;
  const { kind, message } = sentenceFor(status, url.host, what);
  const code = response.headers.get('x-error-code') ?? undefined;
  return new DownloadError(kind, message, { status, code, retryAfterMs: retryAfterMs(response) });
}

function sentenceFor(status: number, host: string, what: string): { kind: DownloadErrorKind; message: string } {
  switch (status) {
    case 401: return { kind: 'unauthorized', message: `${host} requires an access token for ${what}: give one that may read it.` };
    case 403: return { kind: 'forbidden', message: `${host} does not let this account read ${what}.` };
    case 404:
    case 410: return { kind: 'not-found', message: `${host} has no ${what}.` };
    case 429: return { kind: 'rate-limit', message: `${host} limits the rate of requests: wait some minutes, then try again.` };
    default: return { kind: 'server', message: `${host} answered ${status} for ${what}; try again later.` };
  }
}

function retryAfterMs(response: Response): number | undefined {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1_000 : undefined;
}

/** An error code such as ECONNRESET, which undici wraps in one or two causes. */
function networkCode(error: unknown): string | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 4; at = at.cause, depth += 1) {
    if ('code' in at && typeof at.code === 'string' && /^[A-Z][A-Z0-9_]{2,40}$/.test(at.code)) return at.code;
  }
  return undefined;
}
