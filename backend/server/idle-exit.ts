export interface IdleExitOptions {
  readonly idleMs: number;
  /** Whether a client, run or training needs the backend now. */
  readonly isNeeded: () => boolean;
  readonly onIdle: () => void;
}

/**
 * Ends the backend after it has been idle for some time. A run that waits for the user (a key, a confirmation) does not need it: the run
 * is in the journal and resumes when the backend starts again, for a client that can answer.
 */
export class IdleExit {
  readonly #options: IdleExitOptions;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: IdleExitOptions) {
    this.#options = options;
    this.touch();
  }

  /** Restarts the idle time. */
  touch(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#check(), this.#options.idleMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  /** Runs only when the idle time is over. If the backend is needed then, the idle time restarts. */
  #check(): void {
    if (this.#options.isNeeded()) this.touch();
    else this.#options.onIdle();
  }
}
