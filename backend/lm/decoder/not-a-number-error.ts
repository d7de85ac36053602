/** What was computed is no number, and means nothing to a reader or to training. Weights are looked at before; sums can still overflow. */
export class NotANumberError extends Error {
  override readonly name = 'NotANumberError';

  constructor() {
    super('what it computed left the range of its numbers; use it without the adapter, with its weights in full, or on the CPU.');
  }
}

/** @throws NotANumberError */
export function requireNumber(logprob: number): number {
  if (Number.isNaN(logprob)) throw new NotANumberError();
  return logprob;
}
