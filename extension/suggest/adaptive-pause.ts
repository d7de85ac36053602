/** Before anything is known of the worker. */
const FIRST_MS = 150;
const SHORTEST_MS = 50;
const LONGEST_MS = 600;
/** A worker that answers in a second is asked after a quarter of one: sooner, most of its answers would come too late. */
const SHARE_OF_LATENCY = 0.25;
/** So many answers are remembered; a worker that was slow once is soon forgiven. */
const REMEMBERED = 10;

/** How long to wait for the next key before a worker is asked, by how long its last answers took. */
export class AdaptivePause {
  readonly #latenciesMs: number[] = [];

  /** An answer came after so long. */
  note(latencyMs: number): void {
    this.#latenciesMs.push(latencyMs);
    if (this.#latenciesMs.length > REMEMBERED) this.#latenciesMs.shift();
  }

  get ms(): number {
    const sorted = this.#latenciesMs.toSorted((a, b) => a - b);
    const median = sorted[Math.floor((sorted.length - 1) / 2)];
    if (median === undefined) return FIRST_MS;
    return Math.round(Math.min(LONGEST_MS, Math.max(SHORTEST_MS, median * SHARE_OF_LATENCY)));
  }
}
