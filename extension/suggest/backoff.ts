const FIRST_MS = 2_000;
const LONGEST_MS = 60_000;

/** Pauses requests after a failure, longer after each further one, until a request succeeds. */
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
