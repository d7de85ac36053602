/** What can go wrong with a download. Only problems that code depends on have a kind of their own. */
export type DownloadErrorKind =
  /** 401: no valid credentials. */
  | 'unauthorized'
  /** 403: no permission. */
  | 'forbidden'
  | 'not-found'
  | 'rate-limit'
  /** Any other status. */
  | 'server'
  /** An answer that is not what was requested; a retry would not help. */
  | 'bad-answer'
  /** No connection, a connection that was cut, or one that fell silent. */
  | 'network'
  /** An address we do not follow: not https, or too many redirects. */
  | 'refused-address'
  /** The server has a file of another size than the one that was announced. */
  | 'wrong-size'
  /** All bytes came and they are not the ones that were announced. */
  | 'checksum'
  | 'disk-full'
  /** The file system said no for another reason. */
  | 'disk';

const RETRYABLE: ReadonlySet<DownloadErrorKind> = new Set(['rate-limit', 'server', 'network']);

export interface DownloadErrorDetails {
  readonly status?: number | undefined;
  /** The server's own word for it, from the header `X-Error-Code` that hubs send, such as `GatedRepo`. */
  readonly code?: string | undefined;
  /** What the server asked us to wait. */
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/**
 * A download that did not work. The message is one sentence that says what happened and what to do; it holds no
 * token, and of an address only the host.
 */
export class DownloadError extends Error {
  override readonly name = 'DownloadError';
  readonly kind: DownloadErrorKind;
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(kind: DownloadErrorKind, message: string, { status, code, retryAfterMs, cause }: DownloadErrorDetails = {}) {
    super(message, { cause });
    this.kind = kind;
    this.status = status;
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }

  /** Whether the same request may work a moment later. A status of 4xx other than 408 and 429 stays what it is. */
  get retryable(): boolean {
    if (!RETRYABLE.has(this.kind)) return false;
    return this.status === undefined || this.status >= 500 || this.status === 408 || this.status === 429;
  }
}

const NO_SPACE = new Set(['ENOSPC', 'EDQUOT']);

/** Runs work on the file system; what it throws becomes a DownloadError that says which folder it was about. */
export async function onDisk<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (error instanceof DownloadError || code === undefined || code === 'ABORT_ERR') throw error;
    const [kind, message] = NO_SPACE.has(code)
      ? ['disk-full', `The disk of ${folder} is full: make room, then try again; what was fetched is kept.`] as const
      : ['disk', `${folder} could not be written (${code}): see that it is yours to write.`] as const;
    throw new DownloadError(kind, message, { cause: error });
  }
}
