/*
 * All network access of the SDKs. On their own, they read headers from environment variables, follow redirects with the key, and buffer
 * lines of any length. This module prevents all three.
 */

/** The headers that an SDK may send. All others, such as those from OPENAI_CUSTOM_HEADERS, are removed. */
const SENT_HEADERS = new Set([
  'accept', 'anthropic-version', 'authorization', 'content-type', 'user-agent', 'x-api-key',
]);

/** A body with this many bytes and no line end is not an event stream. The largest real event repeats a whole answer, escaped. */
const MAX_LINE_BYTES = 16 * 1_048_576;
/** Allows a few hundred bytes of events for each token of an answer, including reasoning. */
const MAX_STREAM_BYTES = 512 * 1_048_576;
/** The message of an error is at its beginning. */
const MAX_ERROR_BYTES = 64 * 1_024;

/** The server redirects. Redirects are not followed, because a key is for one server. */
export class RedirectRefusedError extends Error {
  override readonly name = 'RedirectRefusedError';
  readonly status: number;
  readonly target: string;

  constructor(status: number, target: string) {
    super(`Redirected to ${target}.`);
    this.status = status;
    this.target = target;
  }
}

/** A successful response that is not an event stream: a web page, or a non-streamed answer. */
export class NotAStreamError extends Error {
  override readonly name = 'NotAStreamError';
  readonly contentType: string;

  constructor(contentType: string) {
    super(`Content type ${contentType}.`);
    this.contentType = contentType;
  }
}

export class ResponseTooLargeError extends Error {
  override readonly name = 'ResponseTooLargeError';
}

type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** A `fetch` for one attempt. `onActivity` is called for each chunk of a body, including keep-alive comments. */
export function guardedFetch(onActivity: () => void): Fetch {
  return async (input, init) => {
    const response = await fetch(input, { ...init, headers: allowedHeaders(init?.headers), redirect: 'manual' });
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel();
      throw new RedirectRefusedError(response.status, redirectTarget(response, input));
    }
    if (response.body === null) return response;
    if (!response.ok) return withBody(response, response.body.pipeThrough(cutAfter(MAX_ERROR_BYTES)));
    const contentType = response.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
    if (contentType === 'text/html' || contentType === 'application/json') {
      await response.body.cancel();
      throw new NotAStreamError(contentType);
    }
    return withBody(response, response.body.pipeThrough(heldBelowLimits(onActivity)));
  };
}

function allowedHeaders(given: RequestInit['headers']): Headers {
  return new Headers([...new Headers(given)].filter(([name]) => SENT_HEADERS.has(name)));
}

function redirectTarget(response: Response, input: string | URL | Request): string {
  const location = response.headers.get('location') ?? '';
  const base = input instanceof Request ? input.url : input;
  return URL.canParse(location, base) ? new URL(location, base).origin : 'an unknown address';
}

function withBody(response: Response, body: ReadableStream<Uint8Array>): Response {
  const { status, statusText, headers } = response;
  return new Response(body, { status, statusText, headers });
}

function heldBelowLimits(onActivity: () => void): TransformStream<Uint8Array, Uint8Array> {
  let total = 0;
  let line = 0;
  return new TransformStream({
    transform(chunk, controller) {
      onActivity();
      const lineEnd = chunk.lastIndexOf(10);
      total += chunk.length;
      line = lineEnd === -1 ? line + chunk.length : chunk.length - lineEnd - 1;
      if (total > MAX_STREAM_BYTES || line > MAX_LINE_BYTES) throw new ResponseTooLargeError('The response is too large.');
      controller.enqueue(chunk);
    },
  });
}

function cutAfter(limit: number): TransformStream<Uint8Array, Uint8Array> {
  let left = limit;
  return new TransformStream({
    transform(chunk, controller) {
      controller.enqueue(chunk.subarray(0, left));
      left -= chunk.length;
      if (left <= 0) controller.terminate();
    },
  });
}
