import * as z from 'zod';
import { DEVICES } from './devices.ts';

/**
 * How a worker is reached. `openai` is OpenAI's own API; every other server with its wire format is `openai-compatible`; `local` is
 * a model that Conductor itself runs on this machine.
 */
export const providerSchema = z.enum(['openai', 'openai-compatible', 'anthropic', 'vscode', 'local']);
export type Provider = z.infer<typeof providerSchema>;

const rates = {
  inputPerMillion: z.number().nonnegative(),
  outputPerMillion: z.number().nonnegative(),
  cacheReadPerMillion: z.number().nonnegative().optional(),
  cacheWritePerMillion: z.number().nonnegative().optional(),
};

/**
 * US dollars for a million tokens. Reasoning tokens are billed as output. `longPrompt` holds for the whole of a request whose input
 * is longer than so many tokens.
 */
export const priceSchema = z.object({
  ...rates,
  longPrompt: z.object({ ...rates, aboveInputTokens: z.number().int().positive() }).optional(),
});
export type Price = z.infer<typeof priceSchema>;

const loopbackHosts = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** Whether an address is one of this machine. */
export const isLoopback = (url: string): boolean => loopbackHosts.has(new URL(url).hostname);

/** A key may travel in the clear only to this machine. */
const baseUrlSchema = z
  .url({ protocol: /^https?$/, error: 'baseUrl must be an http or https address' })
  .refine((url) => url.startsWith('https:') || isLoopback(url), {
    error: 'baseUrl must use https, except on this machine (127.0.0.1, localhost)',
  });

const workerFields = z.strictObject({
  /** Short name, unique in the pool; shown to people and never to the Conductor, which sees ordinals. */
  id: z.string().regex(/^[\w.-]{1,64}$/, 'a worker id is 1 to 64 letters, digits, dots, dashes or underscores'),
  provider: providerSchema,
  /** The provider's name of the model; for a local one `owner/name` of a model that was downloaded, or the path of its folder. */
  model: z.string().min(1).max(1_024),
  baseUrl: baseUrlSchema.optional(),
  /**
   * Name of the key: the environment variable the command line reads and the name in VS Code's SecretStorage.
   * Absent where the server wants none.
   */
  key: z.string().regex(/^[A-Z][A-Z0-9_]{0,63}$/, 'a key name looks like an environment variable, such as OPENAI_API_KEY').optional(),
  /** Something true about what the worker is good at, which the Conductor is told. */
  description: z.string().max(400).optional(),
  maxOutputTokens: z.number().int().min(1).max(200_000).default(8_192),
  /** Sent only when given: some models refuse it. */
  temperature: z.number().min(0).max(2).optional(),
  topP: z.number().gt(0).max(1).optional(),
  reasoningEffort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh']).optional(),
  price: priceSchema.optional(),
  /** At most this many calls at once to the worker's server, all runs together. The lowest of a server's workers counts. */
  concurrency: z.number().int().min(1).max(64).default(4),
  firstTokenTimeoutMs: z.number().int().min(100).max(3_600_000).default(120_000),
  idleTimeoutMs: z.number().int().min(100).max(3_600_000).default(60_000),
  enabled: z.boolean().default(true),
  /** How much the model is told when it plays the Conductor: small models do better with `compact`; `mini` is for one that was trained on it. */
  promptProfile: z.enum(['standard', 'compact', 'mini']).optional(),
  /** Of a local model: the path of a PEFT folder that changes it while it plays the Conductor, and not while it answers. */
  adapter: z.string().min(1).max(4_096).optional(),
  /** Set by the demo: the worker is a simulation, and every place that shows its output says so. */
  simulated: z.boolean().default(false),
});
export const workerConfigSchema = workerFields
  .refine(({ provider, baseUrl }) => provider !== 'openai-compatible' || baseUrl !== undefined, {
    path: ['baseUrl'],
    error: 'an openai-compatible worker needs the address of its server, such as http://127.0.0.1:11434/v1',
  })
  .refine(({ provider, adapter }) => provider === 'local' || adapter === undefined, {
    path: ['adapter'],
    error: 'only a local worker can have an adapter',
  });
export type WorkerConfig = z.infer<typeof workerConfigSchema>;

const usd = z.number().positive();
const tokens = z.number().int().positive();

export const budgetSchema = z.strictObject({
  /** Dollars for one run; calls of unpriced workers are held by the tokens alone. */
  runUsd: usd.default(1),
  runTokens: tokens.default(400_000),
  dayUsd: usd.default(10),
  dayTokens: tokens.default(4_000_000),
  /** People are told when so many hundredths of a limit are spent; `DEFAULT_WARN_AT_PERCENT` where it is absent. */
  warnAtPercent: z.number().int().min(1).max(100).optional(),
});
export type Budget = z.infer<typeof budgetSchema>;

/** Names of the limits that calls are held by. */
export const budgetLimitSchema = z.enum(['runUsd', 'runTokens', 'dayUsd', 'dayTokens']);
export type BudgetLimit = z.infer<typeof budgetLimitSchema>;

/** Names of the limits that a run can stop at: `usd` and `tokens` are those of the training whose rollout it is, of all of them together. */
export const stopLimitSchema = z.enum(['usd', 'tokens', ...budgetLimitSchema.options]);
export type StopLimit = z.infer<typeof stopLimitSchema>;

/** Limits of one run instead of the file's. Not `budgetSchema.partial()`: that would fill in the defaults. */
export const budgetOverrideSchema = z.strictObject({ runUsd: usd, runTokens: tokens, dayUsd: usd, dayTokens: tokens }).partial();

/** Addresses that hold no account: they stand in a file, and in what people are asked. */
const publicUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https address' })
  .refine((url) => new URL(url).username === '' && new URL(url).password === '', { error: 'must hold no user name or password' });

/** How models of this machine are run and fetched. */
export const localSettingsSchema = z.strictObject({
  /** `auto` takes the GPU where it can be used, and says why where it cannot. */
  device: z.enum(['auto', ...DEVICES]).default('auto'),
  /** How the weights are held; `auto` takes the best that fits in memory and is quick enough. */
  precision: z.enum(['auto', 'full', '8-bit', '4-bit']).default('auto'),
  /** A Python package index that the CUDA libraries are fetched from; without one they are not fetched. */
  packageIndex: publicUrl.optional(),
  /** Where models are downloaded from, instead of Hugging Face's own hub. */
  hubEndpoint: publicUrl.optional(),
});
export type LocalSettings = z.infer<typeof localSettingsSchema>;

/** The file `workers.json`, which VS Code and the command line both read. */
export const workersFileSchema = z
  .strictObject({
    version: z.literal(1),
    /** Id of the worker whose model plays the Conductor. It may also stand in the pool. */
    conductor: z.string().optional(),
    budget: budgetSchema.prefault({}),
    local: localSettingsSchema.prefault({}),
    workers: z.array(workerConfigSchema).max(32),
  })
  .superRefine((file, context) => {
    const ids = file.workers.map((worker) => worker.id);
    const twice = ids.find((id, index) => ids.indexOf(id) !== index);
    if (twice) context.addIssue({ code: 'custom', message: `two workers are called "${twice}"` });
    if (file.conductor && !ids.includes(file.conductor)) {
      context.addIssue({ code: 'custom', message: `"conductor" names "${file.conductor}", which is not among the workers` });
    }
  });
export type WorkersFile = z.infer<typeof workersFileSchema>;
