/** The request cannot be met. The message says why and what to do. */
export class EvaluationRequestError extends Error {
  override readonly name = 'EvaluationRequestError';
}
