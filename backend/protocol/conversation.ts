import * as z from 'zod';
import type { Picture } from './pictures.ts';
import { pictureSchema } from './run-request.ts';
import { toolCallSchema } from './tool-calls.ts';
import { costSchema, usageSchema } from './usage.ts';
import { workerConfigSchema } from './worker-config.ts';

/*
 * A turn of a conversation that another program holds: an agent, an editor, a chat. It brings its messages and its tools, and runs the tools
 * itself.
 */

/** The model that plans. Every other name is the id of a worker, which is asked without a plan. */
export const CONDUCTOR_MODEL = 'conductor';

/** Those without data are old: models are told of them and not shown them. */
const pictures = z.array(pictureSchema).max(1_000).optional();

/** Who says it, where several may. */
const name = z.string().min(1).max(256).optional();

export const spokenMessageSchema = z.discriminatedUnion('role', [
  z.object({ role: z.literal('system'), content: z.string(), name }),
  z.object({ role: z.literal('user'), content: z.string(), pictures, name }),
  z.object({ role: z.literal('assistant'), content: z.string(), name, toolCalls: z.array(toolCallSchema).max(1_000).optional() }),
  /** `callId`: the id of a call in an earlier message. `isError`: the client says that it failed. */
  z.object({ role: z.literal('tool'), callId: z.string().min(1), content: z.string(), isError: z.boolean().optional(), pictures }),
]);
export type SpokenMessage = z.infer<typeof spokenMessageSchema>;

export function picturesIn(message: SpokenMessage): readonly Picture[] {
  return message.role === 'user' || message.role === 'tool' ? message.pictures ?? [] : [];
}

export const offeredToolSchema = z.object({
  name: z.string().min(1).max(128),
  description: z.string(),
  /** A JSON schema of type `object`. */
  parameters: z.record(z.string(), z.unknown()),
  /** The client wants the arguments held to the schema. */
  isStrict: z.boolean().optional(),
});
export type OfferedTool = z.infer<typeof offeredToolSchema>;

/** Whether tools have to be called; or the one that has to be. */
export const toolChoiceSchema = z.union([z.enum(['auto', 'none', 'required']), z.object({ name: z.string().min(1).max(128) })]);
export type ToolChoice = z.infer<typeof toolChoiceSchema>;

/** JSON of any kind, or of a schema. */
export const answerFormatSchema = z.union([
  z.literal('json'), z.object({ name: z.string().regex(/^[\w-]{1,64}$/), schema: z.record(z.string(), z.unknown()), isStrict: z.boolean().optional() }),
]);
export type AnswerFormat = z.infer<typeof answerFormatSchema>;

/** Whose money a conversation costs: a program, by its key. */
export const accountSchema = z.object({
  /** Unique, also after another key of the same name. */
  id: z.string().min(1).max(64),
  name: z.string().min(1).max(64),
  /** What all its calls together may cost, in dollars; without a known price, tokens are counted instead. No limit when absent. */
  maxUsd: z.number().positive().optional(),
});
export type Account = z.infer<typeof accountSchema>;

/** What a run is told of a conversation, from the client's request with a person's message. All options are for the worker that speaks. */
export const conversationSchema = z.object({
  messages: z.array(spokenMessageSchema).min(1).max(10_000),
  tools: z.array(offeredToolSchema).max(1_000).default([]),
  account: accountSchema.optional(),
  /** The client's own name for its session; the beginning of the conversation tells sessions apart when absent. */
  session: z.string().min(1).max(200).optional(),
  maxOutputTokens: z.number().int().min(1).optional(),
  toolChoice: toolChoiceSchema.optional(),
  /** False: at most one call in a turn. */
  parallelCalls: z.boolean().optional(),
  format: answerFormatSchema.optional(),
  seed: z.number().int().optional(),
  temperature: z.number().min(0).max(2).optional(),
  topP: z.number().min(0).max(1).optional(),
  /** For workers of Chat Completions: other formats have none. */
  frequencyPenalty: z.number().min(-2).max(2).optional(),
  presencePenalty: z.number().min(-2).max(2).optional(),
  reasoningEffort: workerConfigSchema.shape.reasoningEffort,
});
export type Conversation = z.infer<typeof conversationSchema>;

export const converseRequestSchema = conversationSchema.extend({
  /** Chosen by the client; streamed text carries it. */
  requestId: z.string().min(1).max(64),
  /** `conductor`, or the id of a worker. */
  model: z.string().min(1).max(64),
});
export type ConverseRequest = z.infer<typeof converseRequestSchema>;

export const converseResultSchema = z.object({
  runId: z.string(),
  /** Id of the worker that spoke. */
  worker: z.string(),
  /** All text of the turn, as streamed. */
  text: z.string(),
  /** The tools that the speaker asks for. The client runs them and sends what they return with its next request. */
  calls: z.array(toolCallSchema),
  finishReason: z.enum(['stop', 'length', 'content-filter']),
  /** Of the speaker's call. */
  usage: usageSchema,
  /** Of everything else that was called for this turn: the plan, the steps that advise, and calls that failed. */
  orchestration: usageSchema,
  /** Of all of it. */
  cost: costSchema,
  /** A worker of the run is simulated: nobody is to take the answer for a model's. */
  simulated: z.boolean().optional(),
});
export type ConverseResult = z.infer<typeof converseResultSchema>;

/** The next piece of the text. */
export const converseTextSchema = z.object({ requestId: z.string(), text: z.string() });
export type ConverseText = z.infer<typeof converseTextSchema>;
