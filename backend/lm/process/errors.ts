/** How a process ended. */
export interface ProcessEnd {
  readonly signal: NodeJS.Signals | null;
  readonly exitCode: number | null;
  /** What it wrote last on standard error. */
  readonly lastOutput: string;
}

export interface ModelDiedData extends Partial<ProcessEnd> {
  /** Whether asking again makes sense. */
  readonly retryable: boolean;
  readonly message: string;
  readonly cause?: unknown;
}

/** The model's process is gone, and with it what it was working on. */
export class ModelDiedError extends Error {
  override readonly name = 'ModelDiedError';
  readonly retryable: boolean;
  readonly signal: NodeJS.Signals | null;
  readonly exitCode: number | null;
  readonly lastOutput: string;

  constructor({ retryable, message, signal = null, exitCode = null, lastOutput = '', cause }: ModelDiedData) {
    super(message, { cause });
    this.retryable = retryable;
    this.signal = signal;
    this.exitCode = exitCode;
    this.lastOutput = lastOutput;
  }
}

/** The model answered a request with a failure of its own, of no kind that anybody decides by. It goes on with the next one. */
export class ModelFailedError extends Error {
  override readonly name = 'ModelFailedError';
}

/** The model was closed, for good. */
export class ModelClosedError extends Error {
  override readonly name = 'ModelClosedError';
}
