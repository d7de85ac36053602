/** A turn of a conversation that gave no answer. `kind` is that of the run's failure, `budget-spent`, `run-cancelled` or `run-removed`. */
export class TurnError extends Error {
  override readonly name = 'TurnError';
  readonly kind: string;
  /** After this time it may be answered, where that is known. */
  readonly retryAfterMs: number | undefined;

  constructor(kind: string, message: string, retryAfterMs?: number) {
    super(message);
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }
}
