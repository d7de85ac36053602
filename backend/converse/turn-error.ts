/** A turn of a conversation that gave no answer. `kind` is that of the run's failure, `budget-spent`, `run-cancelled` or `run-removed`. */
export class TurnError extends Error {
  override readonly name = 'TurnError';
  readonly kind: string;

  constructor(kind: string, message: string) {
    super(message);
    this.kind = kind;
  }
}
