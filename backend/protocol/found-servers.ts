import * as z from 'zod';
import { workerConfigSchema } from './worker-config.ts';

/*
 * Model servers and their models, as clients see them. What stands here was said by whatever listens at an address, so it is bounded
 * and shown as text.
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

/** A hub of many providers has some hundred. */
export const MAX_LISTED_MODELS = 1_000;

export const foundServerSchema = z.object({
  kind: serverKindSchema,
  /** Up to where `/chat/completions` is added; always on this machine. */
  baseUrl: z.string(),
  /** It answers, and names its models only to who has its key. */
  needsKey: z.boolean(),
  /** Those that can answer a question, in the server's order. */
  models: z.array(foundModelSchema).max(MAX_LISTED_MODELS),
});
export type FoundServer = z.infer<typeof foundServerSchema>;

export const foundServersSchema = z.object({
  servers: z.array(foundServerSchema),
  /** Where was looked. */
  looked: z.array(z.object({ kind: serverKindSchema, port: z.number().int() })),
});
export type FoundServers = z.infer<typeof foundServersSchema>;

/** A server that somebody named, to be asked for its models. */
export const namedServerSchema = z.object({
  provider: z.enum(['openai', 'openai-compatible', 'anthropic']),
  /** Absent: the provider's own. */
  baseUrl: workerConfigSchema.shape.baseUrl,
  /** The key itself; it is sent to the server and kept nowhere. */
  key: z.string().min(1).max(4_096).optional(),
});
export type NamedServer = z.infer<typeof namedServerSchema>;

export const listedModelsSchema = z.object({
  /**
   * `listed`: it says which models it has. `unlisted`: it answers and does not. `refused`: it wants a key, or another one. `silent`:
   * nothing answers. `unknown-host`: its name leads nowhere, as every name does without a network.
   */
  state: z.enum(['listed', 'unlisted', 'refused', 'silent', 'unknown-host']),
  /** Where it answered: the address that was asked for, or with `/v1` where that one alone lists models. */
  baseUrl: z.string(),
  /** Those that can answer a question, in the server's order. */
  models: z.array(foundModelSchema).max(MAX_LISTED_MODELS),
});
export type ListedModels = z.infer<typeof listedModelsSchema>;
