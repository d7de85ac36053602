import type { Gap } from '../gaps.ts';
import type { SimulatedCall, SimulatedMessage, SimulatedTool } from '../simulated-model.ts';

/** What a request asks for, whatever wire format it came in. */
export interface WireRequest {
  readonly model: string;
  readonly messages: readonly SimulatedMessage[];
  /** The tools that the model may ask for. */
  readonly tools?: readonly SimulatedTool[];
  /** What is to be filled in, where the format asks for that. */
  readonly gap?: Gap;
  /** Texts that end the answer. */
  readonly stop?: readonly string[];
  readonly stream: boolean;
  readonly maxOutputTokens: number | undefined;
  /** The request's `seed`, where the format has one. */
  readonly sample: number | undefined;
  /** Chat Completions sends the usage of a stream only when it is asked for. */
  readonly streamUsage: boolean;
}

export interface Answer {
  readonly id: string;
  readonly model: string;
  readonly createdAt: Date;
  readonly text: string;
  readonly calls: readonly SimulatedCall[];
  readonly finish: 'stop' | 'length';
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly streamUsage: boolean;
}

/** A server-sent event; `data` is written as JSON unless it is a string. */
export interface ServerEvent {
  readonly event?: string;
  readonly data: unknown;
}

/** How an answer is streamed: what comes before the text, each piece of it, the tool calls, and what ends it. */
export interface AnswerStream {
  readonly opening: () => ServerEvent[];
  readonly piece: (text: string) => ServerEvent[];
  /** A call at its place among the calls: its beginning, each piece of its arguments, its end. */
  readonly call: (call: SimulatedCall, index: number) => CallStream;
  readonly closing: () => ServerEvent[];
}

export type CallStream = Pick<AnswerStream, 'opening' | 'piece' | 'closing'>;

export type ErrorKind = 'invalid-request' | 'unauthorized' | 'not-found' | 'too-large' | 'internal';

/** One provider's wire format. */
export interface WireFormat {
  /** @throws ZodError or InvalidRequestError where the body is no request of this format. */
  read(body: unknown): WireRequest;
  /** The answer in one piece. */
  reply(answer: Answer): unknown;
  stream(answer: Answer): AnswerStream;
  error(kind: ErrorKind, message: string): unknown;
}
