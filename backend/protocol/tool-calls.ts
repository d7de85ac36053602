import * as z from 'zod';

/** A model's request to run a tool. */
export const toolCallSchema = z.object({
  /** Unique in the conversation. */
  id: z.string().min(1),
  /** As the model wrote it: perhaps of no tool there is. */
  name: z.string(),
  /** JSON as the model wrote it, perhaps malformed. `{}` if it wrote nothing. */
  arguments: z.string(),
});
export type ToolCall = z.infer<typeof toolCallSchema>;

/** What a tool call gave. */
export const callResultSchema = z.object({
  callId: z.string(),
  text: z.string(),
  /** The tool failed, as the program that ran it says. */
  isError: z.boolean().optional(),
});
export type CallResult = z.infer<typeof callResultSchema>;

/**
 * An assistant's turn in the format of its provider. Some models lose their thread, or refuse to go on, without parts that are neither text
 * nor calls: encrypted reasoning (Responses), signed thinking (Messages), thought signatures and reasoning (Chat Completions).
 */
export const verbatimTurnSchema = z.object({
  /** The server and model that wrote it. Others are not sent it. */
  by: z.string(),
  /** Items of a Responses input, blocks of a Messages turn, or one message of Chat Completions. */
  items: z.array(z.record(z.string(), z.unknown())),
});
export type VerbatimTurn = z.infer<typeof verbatimTurnSchema>;
