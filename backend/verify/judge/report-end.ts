import type { PreparedRun } from '../runners/test-runner.ts';

const POLL_MS = 1_000;
/**
 * How long a runner may take to end after the last line of its report: as long as the tests took, within these bounds. What it does then,
 * such as combining coverage, takes longer with more tests and on a busy machine.
 */
const GRACE_MS = { least: 5_000, most: 30_000 };

/** What a run is aborted with whose runner said that all tests are over, and did not end. */
export class ReportEndedError extends Error {
  override readonly name = 'ReportEndedError';
}

/**
 * Aborts when the report has ended and the command goes on: open sockets or timers of a failed test may keep it alive for ever. Only where
 * the command ends with the runner, since what follows would still have something to do.
 */
export class ReportEnd {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #startedAt = performance.now();
  #endedAt: number | undefined;

  constructor({ hasEnded }: Pick<PreparedRun, 'hasEnded'>, endsWithTests: boolean) {
    if (!hasEnded || !endsWithTests) return;
    let isLooking = false;
    this.#timer = setInterval(() => {
      if (isLooking) return;
      isLooking = true;
      hasEnded().then((ended) => this.#look(ended)).catch(() => this.#look(false)).finally(() => { isLooking = false; }).catch(() => undefined);
    }, POLL_MS);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(ended: boolean): void {
    this.#endedAt = ended ? (this.#endedAt ?? performance.now()) : undefined;
    if (this.#endedAt === undefined) return;
    const graceMs = Math.min(Math.max(this.#endedAt - this.#startedAt, GRACE_MS.least), GRACE_MS.most);
    if (performance.now() - this.#endedAt >= graceMs) this.#controller.abort(new ReportEndedError());
  }
}
