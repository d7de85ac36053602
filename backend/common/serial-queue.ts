/** Runs tasks one after another, in order. One that fails rejects for its own caller, and the next begins. */
export class SerialQueue {
  readonly #waiting = new Set<() => void>();
  #busy = false;

  /** Whether nothing runs and nothing waits. */
  get isIdle(): boolean {
    return !this.#busy && this.#waiting.size === 0;
  }

  /**
   * Runs a task when those before it have ended. An abort is told to the caller at once, with the signal's reason: a task that
   * waits is taken out, and one that runs keeps its place until it has really ended.
   */
  run<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const begin = (): void => {
      this.#busy = true;
      const ended = (async () => task())().finally(() => {
        signal?.removeEventListener('abort', abort);
        this.#busy = false;
        this.#beginNext();
      });
      ended.then(resolve, reject);
    };
    const abort = (): void => {
      this.#waiting.delete(begin);
      reject(signal?.reason);
    };
    if (signal?.aborted) {
      abort();
      return promise;
    }
    signal?.addEventListener('abort', abort, { once: true });
    this.#waiting.add(begin);
    if (!this.#busy) this.#beginNext();
    return promise;
  }

  #beginNext(): void {
    const [next] = this.#waiting;
    if (!next) return;
    this.#waiting.delete(next);
    next();
  }
}
