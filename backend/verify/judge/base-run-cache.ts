import { unlessAborted } from '../../common/unless-aborted.ts';
import type { Coverage } from '../runners/coverage.ts';
import type { Elsewhere } from './imported-elsewhere.ts';
import type { JudgedRun } from './judge.ts';

/** The test results of a workspace before any change: two runs, of which each test counts by its worse one. */
export interface BaseRun extends JudgedRun {
  /** Ids of tests that ended differently in two runs. */
  readonly flaky: ReadonlySet<string>;
  /** Ids of what failed and is left out for one patch; they stand among `flaky`, too. Never of a run that is kept. */
  readonly leftOut?: ReadonlySet<string>;
  /** The runner's process stayed after the end of the tests, and was stopped. */
  readonly stayed?: boolean;
  /** Of the longer run. Absent if no test ran. */
  readonly durationMs?: number;
  /** What the tests import of the project from where it is installed. */
  readonly elsewhere?: readonly Elsewhere[];
  /** Of a run that was asked for it. */
  readonly coverage?: Coverage;
}

/** Keeps base runs by contents and command, so that several patches of one workspace share one base run. */
export interface BaseRunCache {
  /** The run of this key: a kept one, one that another call is making, or a new one. Throws what `make` throws, or the signal's reason. */
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
      // A map keeps the order of insertion: the run used last goes to the end.
      this.#runs.delete(key);
      this.#runs.set(key, underWay);
      // It may fail because its own caller aborts. Then a waiting caller makes a new one.
      const made = await unlessAborted(underWay.catch(() => undefined), signal);
      if (made) return made;
    }
    const making = make();
    this.#runs.set(key, making);
    // A failed run is not kept.
    making.catch(() => {
      if (this.#runs.get(key) === making) this.#runs.delete(key);
    });
    const oldest = this.#runs.size > this.#capacity ? this.#runs.keys().next().value : undefined;
    if (oldest !== undefined) this.#runs.delete(oldest);
    return await making;
  }
}
