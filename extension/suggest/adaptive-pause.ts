/** The pause before the worker's speed is known. */
const FIRST_MS = 150;
const SHORTEST_MS = 50;
const LONGEST_MS = 600;
/** The pause is a quarter of the answer time: with a shorter one, the next key would supersede most answers. */
const SHARE_OF_LATENCY = 0.25;
/** Number of answers in the median. A small number lets one slow answer be forgotten soon. */
const REMEMBERED = 10;

/** Adapts the pause before a request to the duration of the worker's last answers. */
export class AdaptivePause {
  readonly #latenciesMs: number[] = [];

  /** Records an answer's duration. */
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
