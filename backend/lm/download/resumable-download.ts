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
 * One file, fetched with care, for models and for the CUDA libraries: it has its name only when every byte is there and the
 * checksum is right. Two downloads of one file at once are for the caller to keep apart, with a lock on its folder
 * (`whole-folder.ts`).
 */

export interface Download {
  readonly url: string;
  /** Sent to the origin of `url` only, such as a token. */
  readonly secretHeaders?: Readonly<Record<string, string>> | undefined;
  /** Where it goes; absolute. */
  readonly file: string;
  readonly sizeBytes: number;
  readonly checksum: Checksum;
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: DownloadProgress) => void) | undefined;
}

/** What a download works with; tests put their own in. */
export interface DownloadTools {
  readonly fetch: Fetch;
  readonly freeBytes: FreeBytes;
  readonly retry: RetryPolicy;
  /** A connection on which nothing comes for so long is given up and opened again. */
  readonly stallMs: number;
}

export const DOWNLOAD_TOOLS: DownloadTools = {
  fetch: (input, init) => fetch(input, init),
  freeBytes,
  retry: RETRY_POLICY,
  stallMs: 30_000,
};

/** So many new bytes, and the next failure counts as the first one. */
const PROGRESS_BYTES = 1_048_576;

/**
 * Fetches a file, going on where an earlier download of the same content stopped. A file of that name with the right content is
 * left as it is; one with another content is replaced.
 * @throws DownloadError; the signal's reason once it has aborted. What was fetched is kept for the next try, unless it was wrong.
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
  /** These many bytes were added to the part just now. */
  readonly arrived: (bytes: number) => void;
}

/** Fetches what the part lacks, in one response, and checks the whole. */
async function complete(part: PartFile, attempt: Attempt): Promise<void> {
  const { request } = attempt;
  if (part.bytes < request.sizeBytes) await fetchRest(part, attempt);
  if (part.isRight()) return;
  // The process that began it may have died with holes in the file, or the server may have changed the content in between.
  const worthAnother = part.isPatched;
  await part.restart();
  attempt.meter.at(0);
  if (worthAnother) return complete(part, attempt);
  const what = path.basename(request.file);
  const found = `${what} from ${hostOf(request.url)} is not the file that was announced (its checksum differs)`;
  throw new DownloadError('checksum', `${found}: it was thrown away; try again later.`);
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

/** From the first missing byte on, if the content is still the one that the part is of. A weak ETag does not name bytes. */
function rangeHeaders(part: PartFile): Record<string, string> {
  if (part.bytes === 0) return {};
  const isStrong = part.etag !== undefined && !part.etag.startsWith('W/');
  return { range: `bytes=${part.bytes}-`, ...(isStrong && part.etag !== undefined ? { 'if-range': part.etag } : {}) };
}

/** Sees that the response fits to what is there. One that sends the whole again makes the part begin again. */
async function accept(response: Response, part: PartFile, { url, file, sizeBytes }: Download): Promise<void> {
  const what = path.basename(file);
  const refuse = async (error: DownloadError): Promise<never> => {
    await response.body?.cancel();
    throw error;
  };
  const nonsense = (): DownloadError =>
    new DownloadError('server', `${hostOf(url)} sends ${what} in a way that cannot be continued; try again later.`);
  if ((response.headers.get('content-encoding') ?? 'identity') !== 'identity') return refuse(nonsense());
  const etag = response.headers.get('etag') ?? undefined;
  if (response.status === 206) {
    const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(response.headers.get('content-range') ?? '');
    if (range && range[2] !== '*' && Number(range[2]) !== sizeBytes) return refuse(wrongSize(what, url));
    const continues = Number(range?.[1]) === part.bytes && (part.etag === undefined || etag === undefined || etag === part.etag);
    if (!continues) {
      // Next time without a range.
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
    return new DownloadError('network', `${host} fell silent in the middle of ${what}: try again, it goes on where it stopped.`);
  }
  if (!(error instanceof DownloadError)) return networkError(host, what, error);
  // The server has fewer bytes than the part; another file then.
  if (error.status !== 416) return error;
  await part.restart();
  return new DownloadError('server', error.message, { cause: error });
}

function wrongSize(what: string, url: string): DownloadError {
  return new DownloadError('wrong-size', `${hostOf(url)} has ${what} in another size than it announced: try again later.`);
}

/** Aborts when the caller does, and when nothing has been heard for too long. */
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
