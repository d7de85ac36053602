import { setTimeout as delay } from 'node:timers/promises';
import { readAtMost } from '../../../common/read-at-most.ts';
import { refusal } from './refusal.ts';
import { RemoteError } from './remote-error.ts';

const MEBIBYTE = 1024 * 1024;

export interface HttpOptions {
  /** The address of the server, without the path of the API. */
  readonly url: string;
  readonly key?: ((signal: AbortSignal) => Promise<string>) | undefined;
  /** Milliseconds before each further try of a call that found no server, or a server that is busy. */
  readonly waits?: readonly number[] | undefined;
}

export interface Call {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** After the server's address. */
  readonly path: string;
  /** Bytes are a message of Protocol Buffers; everything else is sent as JSON. */
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  /** Whether the call may be sent again where nobody knows if the server carried it out. */
  readonly isRepeatable: boolean;
  /** Whether to wait for a server that is not there; true by default. */
  readonly isPatient?: boolean | undefined;
  readonly timeoutMs?: number | undefined;
  readonly maxBytes?: number | undefined;
  /** Statuses that are an answer, not an error. */
  readonly takes?: readonly number[] | undefined;
}

export interface Answer {
  readonly status: number;
  readonly isProtobuf: boolean;
  /** The address to which the server sends on, if it does. */
  readonly location: string | undefined;
  readonly bytes: Uint8Array;
}

export const PROTOBUF = 'application/x-protobuf';

/** Four minutes in all: a server that is started again on a GPU takes a minute or two. */
const WAITS: readonly number[] = [500, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000, 60_000, 60_000, 60_000];

const TIMEOUT_MS = 60_000;

/** Every answer but an archive is shorter: the samples of a step take some megabytes. */
const MOST_BYTES = 256 * MEBIBYTE;

/** No connection was made, so the server has not seen the call. */
const NOT_CONNECTED: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT']);
/** The server says that it did nothing, but will. */
const BUSY: ReadonlySet<number> = new Set([425, 429, 503]);
/** What stands before the server, or the server itself, failed in the middle. */
const BROKEN: ReadonlySet<number> = new Set([500, 502, 504]);

/** Calls of one server: each is bounded in time and size, and tried again while that is safe. */
export class Http {
  /** For sentences: without a password in it. */
  readonly server: string;
  readonly #base: URL;
  readonly #key: HttpOptions['key'];
  readonly #waits: readonly number[];

  constructor({ url, key, waits = WAITS }: HttpOptions) {
    this.#base = new URL(url);
    this.server = `${this.#base.origin}${this.#base.pathname.replace(/\/$/, '')}`;
    this.#key = key;
    this.#waits = waits;
  }

  /** @throws RemoteError, the signal's reason, and what the key's source throws */
  async call(call: Call): Promise<Answer> {
    for (const wait of [...(call.isPatient === false ? [] : this.#waits), undefined]) {
      try {
        return await this.#once(call);
      } catch (error) {
        call.signal?.throwIfAborted();
        if (!(error instanceof RemoteError) || !(error.kind === 'unreachable' || (error.kind === 'unclear' && call.isRepeatable))) throw error;
        if (wait === undefined) throw error;
      }
      await delay(wait, undefined, { signal: call.signal });
    }
    throw new Error('Every call ends in an answer or an error.');
  }

  async #once({ method, path, body, signal, timeoutMs = TIMEOUT_MS, maxBytes = MOST_BYTES, takes = [] }: Call): Promise<Answer> {
    const address = new URL(path, `${this.server}/`);
    const timeout = AbortSignal.timeout(timeoutMs);
    const either = signal ? AbortSignal.any([signal, timeout]) : timeout;
    const isBytes = body instanceof Uint8Array;
    // A key is for its server alone, not for where it keeps archives.
    const key = address.origin === this.#base.origin ? await this.#key?.(either) : undefined;
    let answer: Answer;
    try {
      const response = await fetch(address, {
        method,
        redirect: 'manual',
        signal: either,
        headers: {
          accept: `${PROTOBUF}, application/json`,
          ...(body !== undefined && { 'content-type': isBytes ? PROTOBUF : 'application/json' }),
          ...(key !== undefined && { 'x-api-key': key }),
        },
        ...(body !== undefined && { body: isBytes ? new Uint8Array(body) : JSON.stringify(body) }),
      });
      answer = {
        status: response.status,
        isProtobuf: (response.headers.get('content-type') ?? '').startsWith(PROTOBUF),
        location: response.headers.get('location') ?? undefined,
        bytes: await this.#read(response, maxBytes),
      };
    } catch (error) {
      signal?.throwIfAborted();
      throw error instanceof RemoteError ? error : this.#broken(error);
    }
    const { status, bytes } = answer;
    if ((status >= 200 && status < 300) || takes.includes(status)) return answer;
    if (BUSY.has(status)) throw new RemoteError('unreachable', this.#silent(`status ${status}`), { status });
    if (BROKEN.has(status)) throw new RemoteError('unclear', this.#silent(`status ${status}`), { status });
    throw refusal(this.server, status, bytes);
  }

  async #read(response: Response, maxBytes: number): Promise<Uint8Array> {
    if (!response.body) return new Uint8Array();
    const { bytes, isWhole } = await readAtMost(response.body, maxBytes);
    if (isWhole) return bytes;
    throw new RemoteError('malformed', `An answer of the training server ${this.server} is larger than ${maxBytes / MEBIBYTE} MiB and was not read: use a smaller adapter or smaller steps.`);
  }

  #broken(error: unknown): RemoteError {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    const what = typeof code === 'string' ? code : error instanceof Error ? error.name : 'no answer';
    return new RemoteError(NOT_CONNECTED.has(code) ? 'unreachable' : 'unclear', this.#silent(what), { cause: error });
  }

  #silent(what: string): string {
    return `The training server ${this.server} does not answer (${what}): start it, or check "engine.url", then resume the training.`;
  }
}
