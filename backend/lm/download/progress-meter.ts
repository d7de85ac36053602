export interface DownloadProgress {
  /** Of the whole, what an earlier download left behind included. */
  readonly receivedBytes: number;
  readonly totalBytes: number;
  /** Over the last seconds; 0 until bytes have come. */
  readonly bytesPerSecond: number;
}

const WINDOW_MS = 5_000;
/** Progress is reported after this much time or this many bytes: people cannot read a number that changes more often. */
const REPORT_EVERY_MS = 100;
const REPORT_EVERY_SHARE = 0.01;

/** Turns pieces of a download into progress that is reported now and then, and at the end. */
export class ProgressMeter {
  readonly #totalBytes: number;
  readonly #report: (progress: DownloadProgress) => void;
  readonly #now: () => number;
  #reportedAt = Number.NEGATIVE_INFINITY;
  #reportedBytes = 0;
  /** Times and bytes that came over the network, no older than the window. */
  #pieces: { readonly at: number; bytes: number }[] = [];

  constructor(totalBytes: number, report: (progress: DownloadProgress) => void, now: () => number = () => performance.now()) {
    this.#totalBytes = totalBytes;
    this.#report = report;
    this.#now = now;
  }

  /** These many bytes of the whole are there; `arrivedBytes` of them came just now, and count for the rate. */
  at(receivedBytes: number, arrivedBytes = 0): void {
    const now = this.#now();
    if (arrivedBytes > 0) this.#count(now, arrivedBytes);
    const isSmall = Math.abs(receivedBytes - this.#reportedBytes) < this.#totalBytes * REPORT_EVERY_SHARE;
    if (isSmall && now - this.#reportedAt < REPORT_EVERY_MS && receivedBytes < this.#totalBytes) return;
    this.#reportedAt = now;
    this.#reportedBytes = receivedBytes;
    this.#report({ receivedBytes, totalBytes: this.#totalBytes, bytesPerSecond: this.#rate(now) });
  }

  /** Takes the progress of one of several files, which begins at `offsetBytes`. What it names first was there before. */
  fileAt(offsetBytes: number): (progress: DownloadProgress) => void {
    let seenBytes = Number.POSITIVE_INFINITY;
    return ({ receivedBytes }) => {
      this.at(offsetBytes + receivedBytes, Math.max(0, receivedBytes - seenBytes));
      seenBytes = receivedBytes;
    };
  }

  /** Pieces of one tenth of a second are counted together, so that the window holds some fifty of them and not thousands. */
  #count(now: number, bytes: number): void {
    const last = this.#pieces.at(-1);
    if (last && now - last.at < REPORT_EVERY_MS) last.bytes += bytes;
    else this.#pieces.push({ at: now, bytes });
    this.#pieces = this.#pieces.filter(({ at }) => now - at <= WINDOW_MS);
  }

  #rate(now: number): number {
    const [first] = this.#pieces;
    if (!first) return 0;
    const bytes = this.#pieces.reduce((sum, piece) => sum + piece.bytes, 0);
    return Math.round((bytes * 1_000) / Math.max(now - first.at, REPORT_EVERY_MS));
  }
}
