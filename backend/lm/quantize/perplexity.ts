/* Perplexity, from natural log-probabilities of tokens. */

/** For each sequence, the log-probabilities of its tokens. */
type Sequences = readonly (readonly number[])[];

export interface PerplexityChange {
  readonly before: number;
  readonly after: number;
  /** after / before − 1: 0.01 is one percent worse. */
  readonly relativeChange: number;
  /**
   * The standard error of `relativeChange`, assuming independent tokens. A change of less than two standard errors may be chance.
   */
  readonly standardError: number;
  readonly tokens: number;
}

/**
 * exp of the mean negative log-probability over all tokens of all sequences.
 * @throws RangeError if there are no tokens or a value is not a log-probability (NaN or above 0)
 */
export function perplexity(sequences: Sequences): number {
  const logprobs = tokensOf(sequences);
  return Math.exp(-mean(logprobs));
}

/**
 * Compares the perplexities of two models on the same tokens, such as a model before and after quantisation.
 * @throws RangeError like `perplexity`, and if the sequences differ in number or length
 */
export function perplexityChange(before: Sequences, after: Sequences): PerplexityChange {
  if (before.length !== after.length || before.some((sequence, index) => sequence.length !== after[index]!.length)) {
    throw new RangeError('The two sets of log-probabilities are not of the same tokens.');
  }
  const [old, now] = [tokensOf(before), tokensOf(after)];
  const losses = old.map((logprob, index) => logprob - now[index]!);
  const loss = mean(losses);
  const variance = losses.reduce((sum, value) => sum + (value - loss) ** 2, 0) / Math.max(1, losses.length - 1);
  return {
    before: perplexity(before),
    after: perplexity(after),
    relativeChange: Math.expm1(loss),
    standardError: Math.exp(loss) * Math.sqrt(variance / losses.length),
    tokens: losses.length,
  };
}

function tokensOf(sequences: Sequences): readonly number[] {
  const logprobs = sequences.flat();
  if (logprobs.length === 0) throw new RangeError('Perplexity needs at least one token.');
  // Rounding can give a log-probability slightly above 0.
  const wrong = logprobs.find((logprob) => !(logprob <= 1e-4));
  if (wrong !== undefined) throw new RangeError(`${wrong} is no log-probability.`);
  return logprobs;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
