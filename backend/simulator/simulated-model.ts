/** A message of any wire format, with its parts joined to one text. */
export interface SimulatedMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string;
  /** What a user shows. */
  readonly pictures?: readonly SimulatedPicture[] | undefined;
  /** The tools that an assistant asked for. */
  readonly toolCalls?: readonly SimulatedCall[] | undefined;
  /** The call that a tool answers. */
  readonly callId?: string | undefined;
}

export interface SimulatedPicture {
  /** Base64. */
  readonly data: string;
}

export interface SimulatedCall {
  readonly id: string;
  readonly name: string;
  /** JSON. */
  readonly arguments: string;
}

export interface SimulatedTool {
  readonly name: string;
  readonly description?: string | undefined;
  /** A JSON schema. */
  readonly parameters?: unknown;
}

/** What a model says in a conversation with tools. */
export interface SimulatedTurn {
  readonly text: string;
  readonly calls: readonly Omit<SimulatedCall, 'id'>[];
  /** What it cost; by default as much as the request and the turn have. */
  readonly tokens?: SimulatedTokens | undefined;
}

export interface SimulatedTokens {
  readonly input: number;
  readonly output: number;
}

export interface SimulatedRequest {
  readonly messages: readonly SimulatedMessage[];
  /** The tools that the model may ask for. */
  readonly tools?: readonly SimulatedTool[] | undefined;
  /** The request's `seed`, if the wire format has one. Another seed gives another sample. */
  readonly sample?: number | undefined;
}

/** Answers requests to a model: a pure function of the request and the constructor's arguments. */
export type AnswerRule = (request: SimulatedRequest) => SimulatedTurn;

/** Tokens of a text, by the rule of thumb of four characters a token (https://help.openai.com/en/articles/4936856). */
export function countTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

/**
 * The text that seeds randomness. It omits times, durations and the folder of the project's copy, which differ between otherwise equal
 * runs. So runs are reproducible.
 */
export function keyOf({ messages, sample }: SimulatedRequest): unknown {
  return [sample ?? null, messages.map(({ role, content, toolCalls = [] }) => [
    role, withoutChance(content), ...toolCalls.map((call) => [call.name, withoutChance(call.arguments)]),
  ])];
}

function withoutChance(text: string): string {
  return text
    .replace(/\d+(?:\.\d+)?\s?(?:ms|milliseconds|s|seconds)\b/g, '…')
    .replace(/(duration_ms"?:?\s*)[\d.]+/g, '$1…')
    .replace(/(?:file:\/\/)?\/[^\s:()'"<>]{0,400}\/(?=(?:src|test)\/)/g, '');
}
