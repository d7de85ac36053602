import type { TestReport } from './test-report.ts';

/** What the tests said of a workspace before any change. */
export interface BaseRun {
  readonly report: TestReport;
  readonly durationMs: number;
}

/** Remembers base runs by contents and command, so that several patches of one workspace pay for one. */
export interface BaseRunCache {
  get(key: string): BaseRun | undefined;
  set(key: string, run: BaseRun): void;
}

/** Keeps the last base runs in memory. */
export class MemoryBaseRunCache implements BaseRunCache {
  readonly #runs = new Map<string, BaseRun>();
  readonly #capacity: number;

  constructor(capacity = 32) {
    this.#capacity = capacity;
  }

  get(key: string): BaseRun | undefined {
    const run = this.#runs.get(key);
    if (run) {
      // A map keeps the order of insertion: what was used last goes to the end.
      this.#runs.delete(key);
      this.#runs.set(key, run);
    }
    return run;
  }

  set(key: string, run: BaseRun): void {
    this.#runs.delete(key);
    this.#runs.set(key, run);
    const oldest = this.#runs.size > this.#capacity ? this.#runs.keys().next().value : undefined;
    if (oldest !== undefined) this.#runs.delete(oldest);
  }
}
