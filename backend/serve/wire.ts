import type { ConverseRequest, ConverseResult } from '../protocol/conversation.ts';
import type { EndpointError } from './endpoint-error.ts';

/** The turn that a request asks for, without whose it is. */
export type AskedTurn = Omit<ConverseRequest, 'requestId' | 'account' | 'session'>;

/** What the speaker said, as the client is told it. */
export interface Said extends ConverseResult {
  /** The stop sequence that ended the text, if one did. */
  readonly stoppedAt?: string | undefined;
}

export interface Asked {
  readonly turn: AskedTurn;
  /** The text ends before the first of them. */
  readonly stops: readonly string[];
  readonly isStreamed: boolean;
  /** The client's own name for its session, where its format has one. A header that names one goes before it. */
  readonly session?: string | undefined;
  readonly answer: AnswerForm;
}

/** A server-sent event. */
export interface ServerEvent {
  /** Absent in formats whose events have no names. */
  readonly event?: string;
  readonly data: object | '[DONE]';
}

/** One answer in a wire format, whole or as the events of a stream. */
export interface AnswerForm {
  whole(said: Said): object;
  /** Sent before all other events. */
  opening(): ServerEvent[];
  text(piece: string): ServerEvent[];
  closing(said: Said): ServerEvent[];
  /** For an error after the stream has begun. */
  failed(problem: EndpointError): ServerEvent[];
  /** Whether a stream says it to Codex although it could still be the request's status, as `failed` does. Never when absent. */
  readonly isToldInStream?: (problem: EndpointError) => boolean;
  /** Said by a stream that has nothing else to say. A comment when absent. */
  readonly keepAlive?: () => ServerEvent[];
}

/** A format in which clients ask for a turn. */
export interface Wire {
  /** @throws EndpointError with a sentence that names the field */
  read(body: unknown): Asked;
  error(problem: EndpointError): { readonly status: number; readonly body: object };
}
