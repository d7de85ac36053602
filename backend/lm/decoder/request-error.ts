/** What was asked cannot be generated or scored: token ids outside the vocabulary, a prompt longer than the context. */
export class ModelRequestError extends Error {
  override readonly name: string = 'ModelRequestError';
}

/** The prompt and the answer do not fit in what the model can read. Nothing was computed. */
export class PromptTooLongError extends ModelRequestError {
  override readonly name = 'PromptTooLongError';
}

/** @throws ModelRequestError */
export function checkTokens(tokens: readonly number[], vocabularySize: number, what: string): void {
  const wrong = tokens.find((id) => !Number.isInteger(id) || id < 0 || id >= vocabularySize);
  if (wrong !== undefined) throw new ModelRequestError(`${what} holds the token id ${wrong}, and the model has ids from 0 to ${vocabularySize - 1}.`);
}

/** Logits divided by less could leave the range of float32. */
const LEAST_TEMPERATURE = 1e-6;

/** Of a softmax; 0 is for the caller. @throws ModelRequestError */
export function checkTemperature(temperature: number): void {
  if (temperature >= LEAST_TEMPERATURE && Number.isFinite(temperature)) return;
  throw new ModelRequestError(`The temperature must be 0, for the likeliest text, or at least ${LEAST_TEMPERATURE}, not ${temperature}.`);
}
