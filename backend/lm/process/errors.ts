/** How a process ended. */
export interface ProcessEnd {
  readonly signal: NodeJS.Signals | null;
  readonly exitCode: number | null;
  /** The end of its standard error. */
  readonly lastOutput: string;
}

export interface ModelDiedData extends Partial<ProcessEnd> {
  /** Whether a retry makes sense. */
  readonly retryable: boolean;
  readonly message: string;
  readonly cause?: unknown;
}

/** The model's process ended, and its current request failed. */
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

/** A request failed in the model's process with an error that has no class of its own. The process continues with the next request. */
export class ModelFailedError extends Error {
  override readonly name = 'ModelFailedError';
}

/** The model was closed and cannot be used again. */
export class ModelClosedError extends Error {
  override readonly name = 'ModelClosedError';
}
