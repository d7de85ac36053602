export interface DownloadProgress {
  /** Includes the bytes of earlier downloads. */
  readonly receivedBytes: number;
  readonly totalBytes: number;
  /** The rate over the last seconds; 0 before the first bytes. */
  readonly bytesPerSecond: number;
}

const WINDOW_MS = 5_000;
/** Progress is reported after this time or this share of bytes, because users cannot read a number that changes more often. */
const REPORT_EVERY_MS = 100;
const REPORT_EVERY_SHARE = 0.01;

/** Measures the progress and rate of a download, and reports them at a limited rate and at the end. */
export class ProgressMeter {
  readonly #totalBytes: number;
  readonly #report: (progress: DownloadProgress) => void;
  readonly #now: () => number;
  #reportedAt = Number.NEGATIVE_INFINITY;
  #reportedBytes = 0;
  /** The times and sizes of recently received bytes, within the window. */
  #pieces: { readonly at: number; bytes: number }[] = [];

  constructor(totalBytes: number, report: (progress: DownloadProgress) => void, now: () => number = () => performance.now()) {
    this.#totalBytes = totalBytes;
    this.#report = report;
    this.#now = now;
  }

  /** Updates the number of received bytes. `arrivedBytes` are new and count for the rate. */
  at(receivedBytes: number, arrivedBytes = 0): void {
    const now = this.#now();
    if (arrivedBytes > 0) this.#count(now, arrivedBytes);
    const isSmall = Math.abs(receivedBytes - this.#reportedBytes) < this.#totalBytes * REPORT_EVERY_SHARE;
    if (isSmall && now - this.#reportedAt < REPORT_EVERY_MS && receivedBytes < this.#totalBytes) return;
    this.#reportedAt = now;
    this.#reportedBytes = receivedBytes;
    this.#report({ receivedBytes, totalBytes: this.#totalBytes, bytesPerSecond: this.#rate(now) });
  }

  /** Returns a progress listener for one of several files, after `offsetBytes`. Its first report does not count for the rate. */
  fileAt(offsetBytes: number): (progress: DownloadProgress) => void {
    let seenBytes = Number.POSITIVE_INFINITY;
    return ({ receivedBytes }) => {
      this.at(offsetBytes + receivedBytes, Math.max(0, receivedBytes - seenBytes));
      seenBytes = receivedBytes;
    };
  }

  /** Combines the pieces of a tenth of a second, so that the window has about fifty of them instead of thousands. */
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
