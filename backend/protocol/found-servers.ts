import * as z from 'zod';
import { SERVER_PROVIDER_NAMES } from './providers.ts';
import { workerConfigSchema } from './worker-config.ts';

/*
 * Model servers and their models, as clients see them. These values come from unknown servers, so they are bounded and shown as text.
 */

/** The server's program; `other` has OpenAI's API and does not name its program. */
export const serverKindSchema = z.enum(['ollama', 'lm-studio', 'vllm', 'llama.cpp', 'other']);
export type ServerKind = z.infer<typeof serverKindSchema>;

export const foundModelSchema = z.object({
  /** The name to use in requests. */
  name: z.string().min(1).max(1_024),
  /** Number of weights, if the server or the model's name states it. */
  parameters: z.number().positive().optional(),
  /** Context length in tokens (prompt and answer), if the server states it. */
  contextTokens: z.number().int().positive().optional(),
  /** The server forwards requests to another machine. */
  remote: z.boolean(),
});
export type FoundModel = z.infer<typeof foundModelSchema>;

/** A hub of many providers lists a few hundred models. */
export const MAX_LISTED_MODELS = 1_000;

export const foundServerSchema = z.object({
  kind: serverKindSchema,
  /** The base address, to which `/chat/completions` is appended; always on this machine. */
  baseUrl: z.string(),
  /** The server answers, but lists its models only with a key. */
  needsKey: z.boolean(),
  /** Those that can answer a question, in the server's order. */
  models: z.array(foundModelSchema).max(MAX_LISTED_MODELS),
});
export type FoundServer = z.infer<typeof foundServerSchema>;

export const foundServersSchema = z.object({
  servers: z.array(foundServerSchema),
  /** The addresses that were tried. */
  looked: z.array(z.object({ kind: serverKindSchema, port: z.number().int() })),
});
export type FoundServers = z.infer<typeof foundServersSchema>;

/** A server named by the user, whose models are to be listed. */
export const namedServerSchema = z.object({
  provider: z.enum(SERVER_PROVIDER_NAMES),
  /** Absent: the provider's default address. */
  baseUrl: workerConfigSchema.shape.baseUrl,
  /** The key itself. It is sent to the server and never stored. */
  key: z.string().min(1).max(4_096).optional(),
});
export type NamedServer = z.infer<typeof namedServerSchema>;

export const listedModelsSchema = z.object({
  /**
   * `listed`: the server lists its models. `unlisted`: it answers without a list. `refused`: the key is missing or wrong. `silent`: no
   * answer. `unknown-host`: the host name does not resolve, as without a network.
   */
  state: z.enum(['listed', 'unlisted', 'refused', 'silent', 'unknown-host']),
  /** The address that answered: the given one, or the same with `/v1` if only that lists models. */
  baseUrl: z.string(),
  /** Those that can answer a question, in the server's order. */
  models: z.array(foundModelSchema).max(MAX_LISTED_MODELS),
});
export type ListedModels = z.infer<typeof listedModelsSchema>;
