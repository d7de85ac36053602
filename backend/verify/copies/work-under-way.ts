/** Tracks running work, so that closing can wait for it. */
export class WorkUnderWay {
  readonly #works = new Set<Promise<unknown>>();

  async track<Result>(work: Promise<Result>): Promise<Result> {
    this.#works.add(work);
    try {
      return await work;
    } finally {
      this.#works.delete(work);
    }
  }

  /** Resolves when no work is running. */
  async ended(): Promise<void> {
    while (this.#works.size > 0) await Promise.allSettled(this.#works);
  }
}
