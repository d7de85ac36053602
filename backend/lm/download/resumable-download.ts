import { rm } from 'node:fs/promises';
import path from 'node:path';
import { hashFile, startHash, type Checksum } from './checksum.ts';
import { DownloadError, onDisk } from './download-error.ts';
import { freeBytes, requireSpace, type FreeBytes } from './free-space.ts';
import { guardedGet, hostOf, networkError, type Fetch } from './guarded-get.ts';
import { PartFile } from './part-file.ts';
import { ProgressMeter, type DownloadProgress } from './progress-meter.ts';
import { RETRY_POLICY, retrying, type RetryPolicy } from './retry.ts';

/*
 * Downloads a file of a model or of the CUDA libraries. The file gets its name only when it is complete and its checksum is right.
 * The caller locks its folder (`whole-folder.ts`) to prevent simultaneous downloads of the same file.
 */

export interface Download {
  readonly url: string;
  /** Headers such as a token, sent only to the origin of `url`. */
  readonly secretHeaders?: Readonly<Record<string, string>> | undefined;
  /** The target file; absolute. */
  readonly file: string;
  readonly sizeBytes: number;
  readonly checksum: Checksum;
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: DownloadProgress) => void) | undefined;
}

/** The tools of a download; tests replace them. */
export interface DownloadTools {
  readonly fetch: Fetch;
  readonly freeBytes: FreeBytes;
  readonly retry: RetryPolicy;
  /** A connection without data for this time is closed and opened again. */
  readonly stallMs: number;
}

export const DOWNLOAD_TOOLS: DownloadTools = {
  fetch: (input, init) => fetch(input, init),
  freeBytes,
  retry: RETRY_POLICY,
  stallMs: 30_000,
};

/** After this many new bytes, the count of failures restarts. */
const PROGRESS_BYTES = 1_048_576;

/**
 * Downloads a file and resumes an earlier download of the same content. An existing file with the right content is kept; one with
 * different content is replaced.
 * @throws DownloadError; the signal's reason after it aborted. Received bytes are kept for the next try, unless they are wrong.
 */
export async function download(request: Download, tools: DownloadTools = DOWNLOAD_TOOLS): Promise<void> {
  const { file, sizeBytes, checksum, signal } = request;
  signal.throwIfAborted();
  const meter = new ProgressMeter(sizeBytes, request.onProgress ?? (() => undefined));
  if (await isThere(request)) return meter.at(sizeBytes);
  const part = await PartFile.open(file, checksum, sizeBytes, signal);
  try {
    await requireSpace(path.dirname(file), sizeBytes - part.bytes, path.basename(file), tools.freeBytes);
    meter.at(part.bytes);
    let milestone = part.bytes + PROGRESS_BYTES;
    await retrying((progressed) => {
      const arrived = (bytes: number): void => {
        meter.at(part.bytes, bytes);
        if (part.bytes < milestone) return;
        milestone = part.bytes + PROGRESS_BYTES;
        progressed();
      };
      return complete(part, { request, tools, meter, arrived });
    }, tools.retry, signal);
    await part.finish();
  } finally {
    await part.close();
  }
}

async function isThere({ file, sizeBytes, checksum, signal }: Download): Promise<boolean> {
  return onDisk(file, async () => {
    const hash = startHash(checksum, sizeBytes);
    const bytes = await hashFile(file, hash, signal);
    if (bytes === sizeBytes && hash.digest('hex') === checksum.hex) return true;
    await rm(file, { force: true });
    return false;
  });
}

interface Attempt {
  readonly request: Download;
  readonly tools: DownloadTools;
  readonly meter: ProgressMeter;
  /** Called with the number of bytes that were just added to the part. */
  readonly arrived: (bytes: number) => void;
}

/** Fetches the missing bytes in one response and checks the complete file. */
async function complete(part: PartFile, attempt: Attempt): Promise<void> {
  const { request } = attempt;
  if (part.bytes < request.sizeBytes) await fetchRest(part, attempt);
  if (part.isRight()) return;
  // An earlier process may have died and left holes in the file, or the server may have changed the content since.
  const worthAnother = part.isPatched;
  await part.restart();
  attempt.meter.at(0);
  if (worthAnother) return complete(part, attempt);
  const what = path.basename(request.file);
  const found = `${what} from ${hostOf(request.url)} has another checksum than expected`;
  throw new DownloadError('checksum', `${found}: it was deleted; try again later.`);
}

async function fetchRest(part: PartFile, { request, tools, arrived }: Attempt): Promise<void> {
  const { url, secretHeaders, file, sizeBytes, signal } = request;
  const what = path.basename(file);
  const watch = new SilenceWatch(tools.stallMs, signal);
  try {
    const headers = rangeHeaders(part);
    const response = await guardedGet({ url, secretHeaders, headers, what, signal: watch.signal, fetch: tools.fetch });
    await accept(response, part, request);
    for await (const chunk of response.body ?? []) {
      watch.heard();
      if (part.bytes + chunk.length > sizeBytes) throw wrongSize(what, url);
      await part.append(chunk);
      arrived(chunk.length);
    }
    if (part.bytes < sizeBytes) throw networkError(hostOf(url), what, undefined);
  } catch (error) {
    throw await classify(error, { part, request, watch });
  } finally {
    watch.stop();
  }
}

/** Requests the bytes from the first missing one on, if the content is unchanged. A weak ETag does not identify bytes. */
function rangeHeaders(part: PartFile): Record<string, string> {
  if (part.bytes === 0) return {};
  const isStrong = part.etag !== undefined && !part.etag.startsWith('W/');
  return { range: `bytes=${part.bytes}-`, ...(isStrong && part.etag !== undefined ? { 'if-range': part.etag } : {}) };
}

/** Checks that the response continues the part. A response with the complete file restarts the part. */
async function accept(response: Response, part: PartFile, { url, file, sizeBytes }: Download): Promise<void> {
  const what = path.basename(file);
  const refuse = async (error: DownloadError): Promise<never> => {
    await response.body?.cancel();
    throw error;
  };
  const nonsense = (): DownloadError =>
    new DownloadError('server', `${hostOf(url)} sends ${what} in a way that cannot be resumed; try again later.`);
  if ((response.headers.get('content-encoding') ?? 'identity') !== 'identity') return refuse(nonsense());
  const etag = response.headers.get('etag') ?? undefined;
  if (response.status === 206) {
    const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(response.headers.get('content-range') ?? '');
    if (range && range[2] !== '*' && Number(range[2]) !== sizeBytes) return refuse(wrongSize(what, url));
    const continues = Number(range?.[1]) === part.bytes && (part.etag === undefined || etag === undefined || etag === part.etag);
    if (!continues) {
      // The next request then has no range.
      await part.restart();
      return refuse(nonsense());
    }
  } else {
    const length = response.headers.get('content-length');
    if (length !== null && Number(length) !== sizeBytes) return refuse(wrongSize(what, url));
    if (part.bytes > 0) await part.restart();
  }
  await part.servedAs(etag);
}

interface Failed {
  readonly part: PartFile;
  readonly request: Download;
  readonly watch: SilenceWatch;
}

async function classify(error: unknown, { part, request, watch }: Failed): Promise<unknown> {
  request.signal.throwIfAborted();
  const what = path.basename(request.file);
  const host = hostOf(request.url);
  if (watch.expired) {
    return new DownloadError('network', `${host} stopped sending in the middle of ${what}: try again; the download is resumed.`);
  }
  if (!(error instanceof DownloadError)) return networkError(host, what, error);
  // The server's file is shorter than the part, so it is a different file.
  if (error.status !== 416) return error;
  await part.restart();
  return new DownloadError('server', error.message, { cause: error });
}

function wrongSize(what: string, url: string): DownloadError {
  return new DownloadError('wrong-size', `${hostOf(url)} has ${what} in another size than expected: try again later.`);
}

/** Aborts when the caller aborts, or when no data arrives for too long. */
class SilenceWatch {
  readonly #silence = new AbortController();
  readonly signal: AbortSignal;
  readonly #timer: NodeJS.Timeout;

  constructor(stallMs: number, caller: AbortSignal) {
    this.signal = AbortSignal.any([caller, this.#silence.signal]);
    this.#timer = setTimeout(() => this.#silence.abort(), stallMs);
  }

  get expired(): boolean {
    return this.#silence.signal.aborted;
  }

  heard(): void {
    this.#timer.refresh();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
