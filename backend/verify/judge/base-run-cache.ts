import type { TestReport } from '../runners/test-report.ts';

/** What the tests said of a workspace before any change. */
export interface BaseRun {
  readonly report: TestReport;
  /** Ids of tests of which two runs said different things. */
  readonly flaky: ReadonlySet<string>;
}

/** Remembers base runs by contents and command, so that several patches of one workspace pay for one. */
export interface BaseRunCache {
  /** The run of this key: remembered, under way for somebody else, or made now. Throws what `make` throws, or the signal's reason. */
  get(key: string, signal: AbortSignal, make: () => Promise<BaseRun>): Promise<BaseRun>;
}

/** Keeps the last base runs in memory. */
export class MemoryBaseRunCache implements BaseRunCache {
  readonly #runs = new Map<string, Promise<BaseRun>>();
  readonly #capacity: number;

  constructor(capacity = 32) {
    this.#capacity = capacity;
  }

  async get(key: string, signal: AbortSignal, make: () => Promise<BaseRun>): Promise<BaseRun> {
    for (;;) {
      signal.throwIfAborted();
      const underWay = this.#runs.get(key);
      if (!underWay) break;
      // A map keeps the order of insertion: what was used last goes to the end.
      this.#runs.delete(key);
      this.#runs.set(key, underWay);
      // It may end because of whom it is made for, and that is nothing to those who wait: they make their own.
      const made = await orAborted(underWay.catch(() => undefined), signal);
      if (made) return made;
    }
    const making = make();
    this.#runs.set(key, making);
    // A run that says nothing is not remembered.
    making.catch(() => {
      if (this.#runs.get(key) === making) this.#runs.delete(key);
    });
    const oldest = this.#runs.size > this.#capacity ? this.#runs.keys().next().value : undefined;
    if (oldest !== undefined) this.#runs.delete(oldest);
    return await making;
  }
}

async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason as Error);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
