import * as z from 'zod';

/*
 * Model servers that answer on this machine, as clients see them. What stands here was said by whatever listens at a port, so it is
 * bounded and shown as text.
 */

/** Whose server it is; `other` has OpenAI's API and does not say. */
export const serverKindSchema = z.enum(['ollama', 'lm-studio', 'vllm', 'llama.cpp', 'other']);
export type ServerKind = z.infer<typeof serverKindSchema>;

export const foundModelSchema = z.object({
  /** As the server wants to be asked for it. */
  name: z.string().min(1).max(1_024),
  /** How many weights it has, as far as the server or its name tells. */
  parameters: z.number().positive().optional(),
  /** Tokens of question and answer together, as far as the server tells. */
  contextTokens: z.number().int().positive().optional(),
  /** The server hands what it is asked on to another machine. */
  remote: z.boolean(),
});
export type FoundModel = z.infer<typeof foundModelSchema>;

export const foundServerSchema = z.object({
  kind: serverKindSchema,
  /** Up to where `/chat/completions` is added; always on this machine. */
  baseUrl: z.string(),
  /** It answers, and names its models only to who has its key. */
  needsKey: z.boolean(),
  /** Those that can answer a question, in the server's order. */
  models: z.array(foundModelSchema).max(500),
});
export type FoundServer = z.infer<typeof foundServerSchema>;

export const foundServersSchema = z.object({
  servers: z.array(foundServerSchema),
  /** Where was looked. */
  looked: z.array(z.object({ kind: serverKindSchema, port: z.number().int() })),
});
export type FoundServers = z.infer<typeof foundServersSchema>;
