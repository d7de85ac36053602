const FIRST_MS = 2_000;
const LONGEST_MS = 60_000;

/** Keeps from asking at every key what has just failed: for longer after each failure, until something works again. */
export class Backoff {
  readonly #now: () => number;
  #failures = 0;
  #until = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  get isResting(): boolean {
    return this.#now() < this.#until;
  }

  failed(): void {
    this.#until = this.#now() + Math.min(LONGEST_MS, FIRST_MS * 2 ** this.#failures);
    this.#failures += 1;
  }

  worked(): void {
    this.#failures = 0;
    this.#until = 0;
  }
}
