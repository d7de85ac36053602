/** The request is invalid, for example a token id outside the vocabulary or a prompt longer than the context. */
export class ModelRequestError extends Error {
  override readonly name: string = 'ModelRequestError';
}

/** The prompt and the answer exceed the context. Nothing was computed. */
export class PromptTooLongError extends ModelRequestError {
  override readonly name = 'PromptTooLongError';
}

/** @throws ModelRequestError */
export function checkTokens(tokens: readonly number[], vocabularySize: number, what: string): void {
  const wrong = tokens.find((id) => !Number.isInteger(id) || id < 0 || id >= vocabularySize);
  if (wrong !== undefined) throw new ModelRequestError(`${what} holds the token id ${wrong}, and the model has ids from 0 to ${vocabularySize - 1}.`);
}

/** Logits divided by less could overflow float32. */
const LEAST_TEMPERATURE = 1e-6;

/** Callers handle temperature 0 themselves. @throws ModelRequestError */
export function checkTemperature(temperature: number): void {
  if (temperature >= LEAST_TEMPERATURE && Number.isFinite(temperature)) return;
  throw new ModelRequestError(`The temperature must be 0, for the likeliest text, or at least ${LEAST_TEMPERATURE}, not ${temperature}.`);
}
