/** A semaphore: at most `count` callers hold a slot; the others wait in order. */
export class Slots {
  #free: number;
  readonly #waiting: PromiseWithResolvers<void>[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** Waits for a free slot, which the caller must give back. Throws the signal's reason. */
  async take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    const turn = Promise.withResolvers<void>();
    const leave = (): void => {
      const place = this.#waiting.indexOf(turn);
      if (place >= 0) this.#waiting.splice(place, 1);
      turn.reject(signal.reason);
    };
    this.#waiting.push(turn);
    signal.addEventListener('abort', leave, { once: true });
    try {
      await turn.promise;
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  giveBack(): void {
    const next = this.#waiting.shift();
    if (next) next.resolve();
    else this.#free += 1;
  }

  /** Rejects all waiting callers. */
  refuse(reason: Error): void {
    for (const turn of this.#waiting.splice(0)) turn.reject(reason);
  }
}
