import type { Pattern } from '../lm/automaton/pattern.ts';
import type { AnswerFormat, ToolChoice } from '../protocol/conversation.ts';
import type { Sampled } from '../protocol/run-events.ts';
import type { ToolCall, VerbatimTurn } from '../protocol/tool-calls.ts';
import type { Usage } from '../protocol/usage.ts';

/*
 * The common interface of all models. An adapter implements one wire format. `call-worker.ts` handles retries, timers, limits and costs for
 * all adapters.
 */

export interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
  /**
   * The number of characters at the start of `content` that other calls repeat exactly. For providers that cache prompts only on request,
   * the cache ends there.
   */
  readonly sharedPrefix?: number;
  /** Of a message of the user: shown before its text. Only for workers that take pictures; adapters of others leave them out. */
  readonly pictures?: readonly SentPicture[] | undefined;
  /** The tools that an assistant's message asks for. A result for each follows, before anything else is said. */
  readonly toolCalls?: readonly ToolCall[] | undefined;
  /** The same turn as its provider wants it back. */
  readonly verbatim?: VerbatimTurn | undefined;
}

export interface SentPicture {
  /** Media type, such as `image/png`. */
  readonly type: string;
  /** Base64. */
  readonly data: string;
  /** What the provider counts for it, by its published rule, at most. */
  readonly tokens: number;
}

/** What a tool returned. */
export interface ToolResult {
  readonly role: 'tool';
  /** `id` of the call, which is in an earlier message. */
  readonly callId: string;
  readonly content: string;
  /** The tool failed, as whoever ran it says. */
  readonly isError?: boolean | undefined;
  /** Only for workers that take pictures. */
  readonly pictures?: readonly SentPicture[] | undefined;
}

/** A message of a conversation in which tools may be used. */
export type ConversationMessage = Message | ToolResult;

/** A tool that a model may ask for. Whoever made the request runs it. */
export interface Tool {
  /** 1 to 64 letters, digits, dashes or underscores. */
  readonly name: string;
  readonly description: string;
  /** A JSON schema of type `object`. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** OpenAI holds its models to the schema then, which has to be of a form that it can be held to. Others are not told. */
  readonly isStrict?: boolean | undefined;
}

/** The text on both sides of a gap. */
export interface FillIn {
  readonly before: string;
  readonly after: string;
  /** Stop sequences, which are not part of the filled text. */
  readonly stop?: readonly string[] | undefined;
  /** What is known of the project besides the text around the gap. Each adapter puts it into the form that the model was trained with. */
  readonly project?: GapProject | undefined;
}

export interface GapProject {
  readonly name: string;
  /** The file with the gap, relative to the project. */
  readonly path: string;
  /** Parts of other files. Those that stay the same longest come first, so that a server can keep them in its cache. */
  readonly pieces: readonly GapPiece[];
}

export interface GapPiece {
  /** Relative to the project. */
  readonly path: string;
  readonly text: string;
}

/** Options that only local and served models support. */
export interface Continuation {
  /** The start of the reply. The model continues it, and the reply's text includes it. */
  readonly prefill: string;
  /** 0 for all tokens. */
  readonly topK?: number;
  /** What the text after the prefill must match, for a model of this machine. */
  readonly grammar?: Pattern;
  /** The same for a served one, as a regular expression for the whole text. */
  readonly regex?: string;
  /** A PEFT folder whose weights change the model for this request. */
  readonly adapter?: string;
}

/** Where an agent works. Whoever makes the request owns the folder, and no other process writes there meanwhile. */
export interface AgentPlace {
  /** Absolute. */
  readonly folder: string;
  /** Folders that it cannot see, such as the project that the folder is a copy of. */
  readonly hidden: readonly string[];
  /** Folders that it may read besides. */
  readonly readable: readonly string[];
  /** Folders that are searched for programs before PATH, and variables: what commands of the project need. */
  readonly programFolders: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Takes over what the agent changed. Called once, when none of its processes runs any more, however it ended. */
  ended(): Promise<void>;
}

/** Something that an agent did while it worked. */
export interface AgentAct {
  /** What it said before. */
  readonly text: string;
  /** `name`: the kind of the act, `arguments`: what it is about, as the agent puts it. */
  readonly call: ToolCall;
  /** What came of it. */
  readonly result: string;
}

export interface ModelRequest {
  readonly messages: readonly ConversationMessage[];
  /**
   * Models on servers get them in their own format; others refuse the request. A conversation with tool calls needs its tools in every
   * request.
   */
  readonly tools?: readonly Tool[];
  /** Only with tools. */
  readonly toolChoice?: ToolChoice;
  /** False: at most one call in a turn. Only with tools. */
  readonly parallelCalls?: boolean;
  /** Providers hold their models to it; models without a provider refuse it. */
  readonly format?: AnswerFormat;
  /** Sent instead of the messages to servers that can fill gaps in text. All others get the messages. */
  readonly fillIn?: FillIn;
  /** For local models and served ones; other adapters ignore it. */
  readonly continuation?: Continuation;
  /** For agents, which otherwise work in an empty folder. Other adapters ignore it. */
  readonly place?: AgentPlace;
  /** Texts for the same messages, drawn independently; 1 by default. Only with a continuation of a served model. */
  readonly samples?: number;
  /** Upper bound on generated tokens of a text, including reasoning if the provider counts it. */
  readonly maxOutputTokens: number;
  /** Sent only when given: some models refuse sampling parameters. */
  readonly temperature?: number;
  readonly topP?: number;
  readonly seed?: number;
  /** Chat Completions alone have them. */
  readonly frequencyPenalty?: number;
  readonly presencePenalty?: number;
  readonly reasoningEffort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh';
  /** Further fields of the request to a server, as the person set them. */
  readonly extraBody?: Readonly<Record<string, unknown>>;
}

export type FinishReason = 'stop' | 'length' | 'content-filter';

export interface ModelReply {
  readonly text: string;
  /**
   * The tools that the model asks for, in order; absent if none. Their ids are unique in the conversation. If `finishReason` is `length`,
   * the last one may be cut off.
   */
  readonly toolCalls?: readonly ToolCall[] | undefined;
  /** For the message that repeats this turn, if it has tool calls and the provider wants more back than text and calls. */
  readonly verbatim?: VerbatimTurn | undefined;
  readonly finishReason: FinishReason;
  readonly usage: Usage;
  /** Dollars, where the provider itself says what the call cost. */
  readonly usd?: number | undefined;
  /** The model's name as the server reported it. */
  readonly model: string;
  /** Only for local models. */
  readonly sampled?: Sampled | undefined;
  /** Only for local models and served ones: the data that training needs. */
  readonly tokens?: SampledTokens | undefined;
  /** Where several were asked for, the texts after the first. A server may write fewer. Usage is that of all. */
  readonly others?: readonly Sample[] | undefined;
}

/** One of several texts of a reply. */
export type Sample = Pick<ModelReply, 'text' | 'finishReason' | 'tokens'>;

export interface SampledTokens {
  readonly promptTokenIds: readonly number[];
  /** The tokens of the reply, with the stop token if there was one. */
  readonly tokenIds: readonly number[];
  /** One per token, from softmax(logits / temperature) before top-p, top-k and grammar are applied. */
  readonly logprobs: readonly number[];
  readonly temperature: number;
}

export interface StreamOptions {
  readonly signal: AbortSignal;
  /** Called with each piece of text, in order. */
  readonly onText: (text: string) => void;
  /**
   * Called with output that is no part of the answer's text: reasoning, which may be hidden and then empty, and tool calls. It counts as the
   * start of the answer.
   */
  readonly onThinking: (text: string) => void;
  /** Called for any data from the server, including keep-alives. It restarts the idle timer. */
  readonly onActivity: () => void;
  /** Called with what an agent has done, in order. */
  readonly onAct?: ((act: AgentAct) => void) | undefined;
}

export interface ModelAdapter {
  /**
   * Streams one attempt. Resolves only after the wire format's terminal event.
   * @throws a classified WorkerError, never an SDK error. If the signal aborts with a WorkerError as its reason, that error.
   */
  stream(request: ModelRequest, options: StreamOptions): Promise<ModelReply>;
}
