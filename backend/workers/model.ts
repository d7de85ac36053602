import type { Pattern } from '../lm/automaton/pattern.ts';
import type { Sampled } from '../protocol/run-events.ts';
import type { Usage } from '../protocol/usage.ts';

/*
 * What every model looks like from here, whoever serves it. An adapter speaks one wire format; retries, timers, limits and
 * money are the business of `call-worker.ts`, once for all adapters.
 */

export interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
  /**
   * Characters at the start of `content` that other calls send again, byte for byte. Providers that cache prompts only on
   * request are told to cache up to there.
   */
  readonly sharedPrefix?: number;
}

/** The text on both sides of a gap. */
export interface FillIn {
  readonly before: string;
  readonly after: string;
  /** Texts that end what fills the gap; they are no part of it. */
  readonly stop?: readonly string[] | undefined;
}

/** What only a model of this machine can do. */
export interface Continuation {
  /** How the reply begins: the model continues exactly here, and the reply's text includes it. */
  readonly prefill: string;
  /** 0 for all tokens. */
  readonly topK?: number;
  /** What the text after the prefill must match. */
  readonly grammar?: Pattern;
  /** A PEFT folder whose weights change the model for this request. */
  readonly adapter?: string;
}

export interface ModelRequest {
  readonly messages: readonly Message[];
  /** For a server that fills gaps in text, which is sent this instead of the messages; every other is asked in their words. */
  readonly fillIn?: FillIn;
  /** For a model of this machine; other adapters ignore it. */
  readonly continuation?: Continuation;
  /** Upper bound on generated tokens, reasoning included where the provider counts it so. */
  readonly maxOutputTokens: number;
  /** Sent only when given: some models refuse sampling parameters. */
  readonly temperature?: number;
  readonly topP?: number;
  readonly seed?: number;
  readonly reasoningEffort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh';
}

export type FinishReason = 'stop' | 'length' | 'content-filter';

export interface ModelReply {
  readonly text: string;
  readonly finishReason: FinishReason;
  readonly usage: Usage;
  /** The model's name as the server reported it. */
  readonly model: string;
  /** Of a model of this machine. */
  readonly sampled?: Sampled | undefined;
  /** Of a model of this machine: what training needs. */
  readonly tokens?: SampledTokens | undefined;
}

export interface SampledTokens {
  readonly promptTokenIds: readonly number[];
  /** Of the reply, with the stop token if there was one. */
  readonly tokenIds: readonly number[];
  /** One per token, of softmax(logits / temperature) before top-p, top-k and grammar. */
  readonly logprobs: readonly number[];
}

export interface StreamOptions {
  readonly signal: AbortSignal;
  /** Called with each piece of text, in order. */
  readonly onText: (text: string) => void;
  /** Called when the model produced something that is not text, such as a piece of its reasoning: it has begun to answer. */
  readonly onThinking: () => void;
  /** Called at any sign of life from the server, a keep-alive included: it winds the idle timer up again. */
  readonly onActivity: () => void;
}

export interface ModelAdapter {
  /**
   * One attempt, streamed. Resolves only after the wire format's terminal event.
   * @throws WorkerError, classified; never the SDK's own error. When the signal aborts with a WorkerError as its reason, that
   * one.
   */
  stream(request: ModelRequest, options: StreamOptions): Promise<ModelReply>;
}
