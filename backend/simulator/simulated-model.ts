/** A message as both wire formats carry it, its parts joined to one text. */
export interface SimulatedMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

export interface SimulatedRequest {
  readonly messages: readonly SimulatedMessage[];
  /** The `seed` of the request, where the wire format has one: another seed is another sample of the same question. */
  readonly sample?: number | undefined;
}

/** What answers behind a model name: a pure function of the request and of what the model was built with. */
export type AnswerRule = (request: SimulatedRequest) => string;

/** Tokens of a text, by the rule of thumb of four characters a token (https://help.openai.com/en/articles/4936856). */
export function countTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

/**
 * What randomness is keyed by. Times, durations and the folder that a copy of the project lies in differ between runs that
 * are equal otherwise; without them a run repeats exactly.
 */
export function keyOf({ messages, sample }: SimulatedRequest): unknown {
  return [sample ?? null, messages.map(({ role, content }) => [role, withoutChance(content)])];
}

function withoutChance(text: string): string {
  return text
    .replace(/\d+(?:\.\d+)?\s?(?:ms|milliseconds|s|seconds)\b/g, '…')
    .replace(/(duration_ms"?:?\s*)[\d.]+/g, '$1…')
    .replace(/(?:file:\/\/)?\/[^\s:()'"<>]{0,400}\/(?=(?:src|test)\/)/g, '');
}
