/** Runs tasks one after another, in order. A failed task rejects only for its caller; the next one still runs. */
export class SerialQueue {
  readonly #waiting = new Set<() => void>();
  #busy = false;

  /** True if no task runs or waits. */
  get isIdle(): boolean {
    return !this.#busy && this.#waiting.size === 0;
  }

  /**
   * Runs a task after all earlier ones have ended. An abort rejects immediately with the signal's reason: a waiting task is removed; a
   * running task keeps its slot until it ends.
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
