export interface IdleExitOptions {
  readonly idleMs: number;
  /** Whether a client or a run would miss the backend now. */
  readonly isNeeded: () => boolean;
  readonly onIdle: () => void;
}

/**
 * Ends the backend some time after nobody has needed it any more. A run that waits for a person (a key, a confirmation) does not
 * need it: the run is in the journal and goes on at the next start, which is when somebody can answer.
 */
export class IdleExit {
  readonly #options: IdleExitOptions;
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

  stop(): void {
    clearTimeout(this.#timer);
  }

  /** Looked at when the time is over, and not before: whatever is needed then is looked at again a whole time later. */
  #check(): void {
    if (this.#options.isNeeded()) this.touch();
    else this.#options.onIdle();
  }
}
