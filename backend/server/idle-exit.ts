import type { RunSummary } from '../protocol/methods.ts';
import type { RunService } from '../solve/run-service.ts';

export interface IdleExitOptions {
  readonly idleMs: number;
  readonly runs: Pick<RunService, 'activeRuns'>;
  /** How many clients are connected now. */
  readonly clientCount: () => number;
  readonly onIdle: () => void;
}

/**
 * Ends the backend some time after its last client has left and its last run has ended. A run that waits for a person (a key, a
 * confirmation) does not keep the process: it is in the journal and goes on at the next start, which is when somebody can answer.
 */
export class IdleExit {
  readonly #options: IdleExitOptions;
  readonly #waiting = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: IdleExitOptions) {
    this.#options = options;
    this.touch();
  }

  /** Something happened: the time starts anew. */
  touch(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#check(), this.#options.idleMs);
  }

  runChanged({ runId, state }: RunSummary): void {
    if (state === 'waiting') this.#waiting.add(runId);
    else this.#waiting.delete(runId);
    this.touch();
  }

  /** Runs that somebody would miss: all but those that wait for a person. */
  get runsUnderWay(): number {
    return Math.max(0, this.#options.runs.activeRuns - this.#waiting.size);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #check(): void {
    const { clientCount, onIdle } = this.#options;
    if (clientCount() === 0 && this.runsUnderWay === 0) onIdle();
    else this.touch();
  }
}
