import * as z from 'zod';
import { DEVICES } from './devices.ts';
import { factsOf, PROVIDER_NAMES } from './providers.ts';

/** The `model` of a worker that uses the bundled model. It is a name, because the model's path changes with each version. */
export const BUNDLED_MODEL = 'conductor-mini';

/** How a worker uses tools: by the tool calls of its server, or by one fenced command a turn. */
export const handsSchema = z.enum(['tools', 'fenced']);

/** How a worker is reached. */
export const providerSchema = z.enum(PROVIDER_NAMES);

const rates = {
  inputPerMillion: z.number().nonnegative(),
  outputPerMillion: z.number().nonnegative(),
  cacheReadPerMillion: z.number().nonnegative().optional(),
  cacheWritePerMillion: z.number().nonnegative().optional(),
};

/**
 * US dollars for a million tokens. Reasoning tokens are billed as output. `longPrompt` applies to the whole request if its input exceeds
 * the stated number of tokens.
 */
export const priceSchema = z.object({
  ...rates,
  longPrompt: z.object({ ...rates, aboveInputTokens: z.number().int().positive() }).optional(),
});
export type Price = z.infer<typeof priceSchema>;

const loopbackHosts = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** Whether an address belongs to this machine. */
export const isLoopback = (url: string): boolean => loopbackHosts.has(new URL(url).hostname);

/** Keys are sent unencrypted only to this machine. */
export const serverUrlSchema = (name: string) => z
  .url({ protocol: /^https?$/, error: `${name} must be an http or https address` })
  .refine((url) => url.startsWith('https:') || isLoopback(url), {
    error: `${name} must use https, except on this machine (127.0.0.1, localhost)`,
  });
const baseUrlSchema = serverUrlSchema('baseUrl');

/** The environment variable the command line reads, and the name in VS Code's SecretStorage. */
export const keyNameSchema = z.string().regex(/^[A-Z][A-Z0-9_]{0,63}$/, 'a key name looks like an environment variable, such as OPENAI_API_KEY');

/** Relative to the home folder, without steps upwards. */
const inHome = z.string().min(1).max(1_024).regex(/^(?!\/)(?!.*(?:^|\/)\.{1,2}(?:\/|$))[^\0]+$/, 'name a file or folder relative to your home folder, such as .config/opencode');

/** How an agent is started, and what it may reach. */
export const agentSchema = z.strictObject({
  /** The program, by its name on PATH or its absolute path, and its arguments. */
  command: z.array(z.string().min(1).max(4_096)).min(1).max(32),
  /** Its configuration and login, relative to the home folder. It gets copies; nobody else sees them. */
  home: z.array(inHome).max(32).default([]),
  /** The hosts that it may reach, such as `api.example.com`, `*.example.com:8443`, or `127.0.0.1:11434` for a server on this machine. */
  hosts: z.array(z.string().min(1).max(260)).max(64).default([]),
  /** Variables of its environment. The worker's `key` is one more. */
  env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/), z.string().max(32_768)).default({}),
  /** The mode in which it works, by its id. */
  mode: z.string().min(1).max(128).optional(),
  /** Dollars set aside for a step, and counted where the agent does not say what it cost. 0: its steps cost nothing beyond a subscription. */
  stepUsd: z.number().nonnegative().optional(),
  /** Tokens set aside for a step. */
  stepTokens: z.number().int().positive().default(100_000),
  /** The most minutes for a step. */
  minutes: z.number().positive().max(240).default(20),
});
export type AgentConfig = z.infer<typeof agentSchema>;

/** The `model` of an agent that chooses its model itself. */
export const AGENTS_OWN_MODEL = 'default';

/** An absolute path, in the form of any system. */
const absolutePath = z.string().min(1).max(4_096).regex(/^(?:\/|[A-Za-z]:[\\/]|\\\\)[^\0]*$/, 'name an absolute path');

/** The model of a Conductor at a server, as far as this machine has to know it. */
export const servedSchema = z.strictObject({
  /** The same model here: `owner/name` or the path of its folder. Its tokenizer and its shape are read, never its weights. */
  model: z.string().min(1).max(1_024),
  /** A folder of this machine that the server reads, too: adapters are copied into it. Without it the server reads Conductor's own folder. */
  folder: absolutePath.optional(),
  /** What the server calls that folder; the same by default. Without `folder`, you copy adapters there yourself. */
  serverFolder: absolutePath.optional(),
});
export type Served = z.infer<typeof servedSchema>;

/** Fields of a request that Conductor sets itself, or that would change what it costs. */
const OWN_FIELDS: ReadonlySet<string> = new Set([
  'model', 'messages', 'input', 'instructions', 'system', 'stream', 'stream_options', 'max_tokens', 'max_completion_tokens', 'max_output_tokens', 'temperature', 'top_p', 'seed',
  'reasoning_effort', 'tools', 'tool_choice', 'parallel_tool_calls', 'response_format', 'output_config', 'text', 'store', 'background', 'n', 'best_of', 'service_tier',
]);

const MAX_EXTRA_BODY = 16_384;

const extraBodySchema = z.record(z.string(), z.unknown())
  .refine((body) => !Object.keys(body).some((name) => OWN_FIELDS.has(name)), {
    error: ({ input }) => `extraBody may not set ${Object.keys(input as object).find((name) => OWN_FIELDS.has(name)) ?? 'this'}: Conductor sets it itself, or it would change what a call costs`,
  })
  .refine((body) => JSON.stringify(body).length <= MAX_EXTRA_BODY, { error: `extraBody may have ${MAX_EXTRA_BODY} characters at most` });

/** How a worker is asked. */
const requestSettings = {
  maxOutputTokens: z.number().int().min(1).max(200_000),
  /** Sent only if set: some models reject it. */
  temperature: z.number().min(0).max(2),
  topP: z.number().gt(0).max(1),
  reasoningEffort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh']),
  /** Further fields of each request, as the worker's server documents them: top-k, penalties, a budget or a switch of thinking. */
  extraBody: extraBodySchema,
};

/** Settings in place of those of a worker. */
export const requestSettingsSchema = z.strictObject(requestSettings).partial();
export type RequestSettings = z.infer<typeof requestSettingsSchema>;

const workerFields = z.strictObject({
  /** Short name, unique in the pool. People see it; the Conductor sees ordinals. */
  id: z.string().regex(/^[\w.-]{1,64}$/, 'a worker id is 1 to 64 letters, digits, dots, dashes or underscores'),
  provider: providerSchema,
  /** The provider's name of the model; for a local model, `owner/name` or the path of its folder; for an agent, one that it offers, or `default`. */
  model: z.string().min(1).max(1_024),
  baseUrl: baseUrlSchema.optional(),
  /**
   * Name of the key: the environment variable the command line reads and the name in VS Code's SecretStorage.
   * Absent if the server needs none.
   */
  key: keyNameSchema.optional(),
  /** What the worker is good at. The Conductor chooses by it. */
  description: z.string().max(400).optional(),
  ...requestSettingsSchema.shape,
  maxOutputTokens: requestSettings.maxOutputTokens.default(8_192),
  /** Without hands, the worker only answers. */
  hands: handsSchema.optional(),
  /** Whether the model takes pictures, as a try showed; a worker without it is sent none (see `seesPictures`). */
  pictures: z.boolean().optional(),
  price: priceSchema.optional(),
  /** Maximum concurrent calls to the worker's server, over all runs. The lowest value of a server's workers applies. */
  concurrency: z.number().int().min(1).max(64).default(4),
  firstTokenTimeoutMs: z.number().int().min(100).max(3_600_000).default(120_000),
  idleTimeoutMs: z.number().int().min(100).max(3_600_000).default(60_000),
  enabled: z.boolean().default(true),
  /** The prompt of the model as Conductor: small models do better with `compact`; `mini` and `mini-hands` need a model trained on them. */
  promptProfile: z.enum(['standard', 'compact', 'mini', 'mini-hands']).optional(),
  /** For an agent. */
  agent: agentSchema.optional(),
  /**
   * For a Conductor at a server such as vLLM: it is asked by tokens, exactly as a training asks it, it can be trained, and it can have an
   * `adapter`. Its steps as a worker are those of every other.
   */
  served: servedSchema.optional(),
  /** For a local model or a served one: the path of a PEFT adapter on this machine, used for planning only. */
  adapter: z.string().min(1).max(4_096).optional(),
  /** For a local model: the folder of trained weights that take the place of the model's own in all that it does. A training that trained all weights sets it. */
  weights: z.string().min(1).max(4_096).optional(),
  /** Set by the demo: the worker is a simulation, and every place that shows its output says so. */
  simulated: z.boolean().default(false),
});
export const workerConfigSchema = workerFields
  .refine(({ provider, baseUrl }) => factsOf(provider).reach !== 'server' || (baseUrl ?? factsOf(provider).baseUrl) !== undefined, {
    path: ['baseUrl'],
    error: 'an openai-compatible worker needs the address of its server, such as http://127.0.0.1:11434/v1',
  })
  .refine(({ provider, hands }) => factsOf(provider).reach === 'server' || hands !== 'tools', {
    path: ['hands'],
    error: 'only a worker at a server can have "tools" as hands; others can have "fenced"',
  })
  .refine(({ provider, pictures }) => factsOf(provider).reach === 'server' || pictures !== true, {
    path: ['pictures'],
    error: 'only a worker at a server can be sent pictures',
  })
  .refine(({ provider, extraBody }) => factsOf(provider).reach === 'server' || extraBody === undefined, {
    path: ['extraBody'],
    error: 'only a worker at a server can have "extraBody"',
  })
  .refine(({ provider, agent }) => (factsOf(provider).reach === 'agent') === (agent !== undefined), {
    path: ['agent'],
    error: 'a worker of provider acp, and no other, needs "agent" with the command that starts it',
  })
  .refine(({ provider, hands }) => factsOf(provider).reach !== 'agent' || hands === undefined, {
    path: ['hands'],
    error: 'an agent has hands of its own',
  })
  .refine(({ provider, served }) => provider === 'openai-compatible' || served === undefined, {
    path: ['served'],
    error: 'only an openai-compatible worker can be "served"',
  })
  .refine(({ provider, served, adapter }) => factsOf(provider).reach === 'process' || served !== undefined || adapter === undefined, {
    path: ['adapter'],
    error: 'only a local worker, or one with "served", can have an adapter',
  })
  .refine(({ provider, weights }) => factsOf(provider).reach === 'process' || weights === undefined, {
    path: ['weights'],
    error: 'only a local worker can have weights of its own',
  });
export type WorkerConfig = z.infer<typeof workerConfigSchema>;

/** Whether it learned to plan here, by an adapter or by all of its weights. */
export const isTrained = ({ adapter, weights }: Pick<WorkerConfig, 'adapter' | 'weights'>): boolean => adapter !== undefined || weights !== undefined;

const usd = z.number().positive();
const tokens = z.number().int().positive();

export const budgetSchema = z.strictObject({
  /** Dollars for one run. Unpriced calls are limited by tokens only. */
  runUsd: usd.default(1),
  runTokens: tokens.default(400_000),
  dayUsd: usd.default(10),
  dayTokens: tokens.default(4_000_000),
  /** The percentage of a limit at which people are warned; default `DEFAULT_WARN_AT_PERCENT`. */
  warnAtPercent: z.number().int().min(1).max(100).optional(),
});
export type Budget = z.infer<typeof budgetSchema>;

/** Names of the limits that apply to calls. */
export const budgetLimitSchema = z.enum(['runUsd', 'runTokens', 'dayUsd', 'dayTokens']);
export type BudgetLimit = z.infer<typeof budgetLimitSchema>;

/** Names of the limits at which a run can stop. `usd` and `tokens` are the limits of the whole training that a rollout belongs to. */
export const stopLimitSchema = z.enum(['usd', 'tokens', ...budgetLimitSchema.options]);
export type StopLimit = z.infer<typeof stopLimitSchema>;

/** Limits of one run instead of the file's. Not `budgetSchema.partial()`: that would fill in the defaults. */
export const budgetOverrideSchema = z.strictObject({ runUsd: usd, runTokens: tokens, dayUsd: usd, dayTokens: tokens }).partial();

/** Addresses without credentials, because they are stored in a file and shown in dialogs. */
const publicUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https address' })
  .refine((url) => new URL(url).username === '' && new URL(url).password === '', { error: 'must hold no user name or password' });

/** Settings for running and downloading local models. */
export const localSettingsSchema = z.strictObject({
  /** `auto` uses the GPU if possible, otherwise it says why not. */
  device: z.enum(['auto', ...DEVICES]).default('auto'),
  /** Precision of the weights in memory; `auto` takes the best that fits and is fast enough. */
  precision: z.enum(['auto', 'full', '8-bit', '4-bit']).default('auto'),
  /** The Python package index for the CUDA libraries. Without one they are not downloaded. */
  packageIndex: publicUrl.optional(),
  /** The hub to download models from, instead of Hugging Face. */
  hubEndpoint: publicUrl.optional(),
});
export type LocalSettings = z.infer<typeof localSettingsSchema>;

/** The file `workers.json`, which VS Code and the command line both read. */
export const workersFileSchema = z
  .strictObject({
    version: z.literal(1),
    /**
     * Id of the worker whose model plays the Conductor, or `conductor-mini`, which need not be listed. If absent, the worker that plans best
     * for its price does.
     */
    conductor: z.string().optional(),
    budget: budgetSchema.prefault({}),
    local: localSettingsSchema.prefault({}),
    /** False: nobody is chosen by what tests said of workers before, and the Conductor is not told of it. */
    useRecords: z.boolean().optional(),
    workers: z.array(workerConfigSchema).max(32),
  })
  .superRefine((file, context) => {
    const ids = file.workers.map((worker) => worker.id);
    const twice = ids.find((id, index) => ids.indexOf(id) !== index);
    if (twice) context.addIssue({ code: 'custom', message: `two workers are called "${twice}"` });
    if (file.conductor && file.conductor !== BUNDLED_MODEL && !ids.includes(file.conductor)) {
      context.addIssue({ code: 'custom', message: `"conductor" names "${file.conductor}", which is not among the workers` });
    }
  });
export type WorkersFile = z.infer<typeof workersFileSchema>;
