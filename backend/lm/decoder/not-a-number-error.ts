/** A result is NaN. Opening a checkpoint verifies that its weights are finite, but sums can still overflow. */
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
