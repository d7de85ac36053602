import { isDiskFull } from '../../common/disk-full.ts';

/** The kinds of problems with a download. A problem has its own kind only if code depends on it. */
export type DownloadErrorKind =
  /** 401: no valid credentials. */
  | 'unauthorized'
  /** 403: no permission. */
  | 'forbidden'
  | 'not-found'
  | 'rate-limit'
  /** Any other status. */
  | 'server'
  /** The response is not what was requested; a retry would not help. */
  | 'bad-answer'
  /** The connection failed, was interrupted or stalled. */
  | 'network'
  /** The address is not https, or there are too many redirects. */
  | 'refused-address'
  /** The server's file has another size than expected. */
  | 'wrong-size'
  /** The complete file has another checksum than expected. */
  | 'checksum'
  | 'disk-full'
  /** Another error of the file system. */
  | 'disk';

const RETRYABLE: ReadonlySet<DownloadErrorKind> = new Set(['rate-limit', 'server', 'network']);

export interface DownloadErrorDetails {
  readonly status?: number | undefined;
  /** The header `X-Error-Code` of a hub, such as `GatedRepo`. */
  readonly code?: string | undefined;
  /** The delay that the server requests. */
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/**
 * A download failed. The message is one sentence that says what happened and what to do. It never contains a token, or more
 * of an address than the host.
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

  /** Whether a retry may succeed. It does not after a status of 4xx other than 408 and 429. */
  get retryable(): boolean {
    if (!RETRYABLE.has(this.kind)) return false;
    return this.status === undefined || this.status >= 500 || this.status === 408 || this.status === 429;
  }
}

/** Runs work on the file system and turns its errors into DownloadErrors that name the folder. */
export async function onDisk<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (error instanceof DownloadError || code === undefined || code === 'ABORT_ERR') throw error;
    const [kind, message] = isDiskFull(error)
      ? ['disk-full', `The disk of ${folder} is full: make room, then try again; what was fetched is kept.`] as const
      : ['disk', `${folder} could not be written (${code}): check its permissions.`] as const;
    throw new DownloadError(kind, message, { cause: error });
  }
}
