import * as z from 'zod';
import { PROJECTIONS } from '../adapter/projections.ts';
import type { Pattern } from '../automaton/pattern.ts';
import { ACCELERATOR_NAMES, WANTED_DEVICES } from '../device/accelerators.ts';
import { deviceTrialSchema } from '../device/device-trial.ts';
import { DEVICE_NAMES } from '../device/devices.ts';
import type { ModelDescription, ModelSettings } from '../language-model.ts';
import type { LoadProgress } from '../load-model.ts';
import type { ChatMessage } from '../tokenizer/tokenizer.ts';
import { wireErrorSchema } from './wire-error.ts';

/*
 * The messages between the backend and the model's process. They use the IPC channel of the child process with structured
 * clones, so that lists of numbers are sent as typed arrays. Each side validates messages on arrival. A process has one model.
 */

const id = z.int().min(1);
const numbers = z.instanceof(Float64Array);
const count = z.int().min(0);
const byte = z.int().min(0).max(255);
const fraction = z.number().min(0).max(1);

const settings = z.object({
  folder: z.string().min(1),
  device: z.enum(WANTED_DEVICES),
  precision: z.enum(['full', '8-bit', '4-bit']),
  contextLength: z.int().min(1).optional(),
  adapters: z.boolean(),
  trainable: z.enum(['adapter', 'weights']).optional(),
  storage: z.string().min(1),
}) satisfies z.ZodType<ModelSettings>;

const device = z.enum(DEVICE_NAMES);
const attention = deviceTrialSchema.shape.attention;
const traits = z.object({ attention: attention.optional(), hasFloat16: z.boolean().optional() });
const sentences = z.array(z.string().max(2_000)).max(20).readonly();

const description = z.object({
  name: z.string(),
  device,
  deviceReasons: sentences,
  precision: z.enum(['full', '8-bit', '4-bit']),
  weightBytes: z.number().min(0),
  contextLength: count,
}) satisfies z.ZodType<ModelDescription>;

const sampling = {
  maxTokens: z.number(),
  temperature: z.number(),
  topP: z.number().optional(),
  topK: z.number().optional(),
  seeds: numbers,
  samples: z.int().min(1).max(100_000),
  adapter: z.string().optional(),
  /** Whether text is sent while it is generated. */
  streamed: z.boolean(),
};

const chatMessage = z.object({
  role: z.enum(['system', 'user', 'assistant']),
  content: z.string(),
}) satisfies z.ZodType<ChatMessage>;

const pattern: z.ZodType<Pattern> = z.lazy(() => z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('byte'), ranges: z.array(z.tuple([byte, byte])) }),
  z.object({ kind: z.literal('sequence'), parts: z.array(pattern) }),
  z.object({ kind: z.literal('choice'), alternatives: z.array(pattern) }),
  z.object({ kind: z.literal('repeat'), part: pattern, minimum: count, maximum: count.exactOptional() }),
  z.object({ kind: z.literal('except'), part: pattern, excluded: pattern }),
  z.object({ kind: z.literal('following'), part: pattern, prefix: z.string() }),
  z.object({ kind: z.literal('reserving'), part: pattern, tokens: count }),
]));

export const requestSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('open'), id, settings, device, traits: traits.optional(), deviceReasons: sentences, threads: z.int().min(1).optional() }),
  z.object({
    type: z.literal('try'), id, device: z.enum(ACCELERATOR_NAMES), attentions: z.array(attention).min(1), folder: z.string().min(1),
    threads: z.int().min(1).optional(),
  }),
  z.object({
    type: z.literal('write'), id, ...sampling,
    messages: z.array(chatMessage), prefill: z.string().optional(), grammar: pattern.optional(),
  }),
  z.object({ type: z.literal('countTokens'), id, messages: z.array(chatMessage), prefill: z.string().optional() }),
  z.object({ type: z.literal('encode'), id, messages: z.array(chatMessage), prefill: z.string().optional(), text: z.string(), ends: z.boolean() }),
  z.object({ type: z.literal('generate'), id, ...sampling, prompts: z.array(numbers) }),
  z.object({ type: z.literal('score'), id, sequences: z.array(numbers), promptLengths: numbers, temperature: z.number().optional(), adapter: z.string().optional() }),
  z.object({ type: z.literal('memory'), id }),
  z.object({
    type: z.literal('startTraining'), id,
    adapter: z.union([z.undefined(), z.string(), z.object({
      rank: z.int().min(1).max(4_096), alpha: z.number(), projections: z.array(z.enum(PROJECTIONS)).min(1).readonly(), seed: z.int().min(0),
    })]),
    optimizer: z.object({ beta1: fraction, beta2: fraction, epsilon: z.number().min(0), weightDecay: z.number().min(0) }),
    resume: z.string().optional(),
  }),
  z.object({
    type: z.literal('forwardBackward'), id, sequences: z.array(numbers), promptLengths: numbers, temperature: z.number().optional(),
    clip: z.object({ low: z.number(), high: z.number() }).optional(), onPolicy: z.boolean().optional(), importanceRatioCap: z.number().optional(),
    tokens: z.array(z.object({
      oldLogprobs: numbers, samplerLogprobs: numbers, referenceLogprobs: numbers, advantages: numbers,
      surrogateWeights: numbers, klWeights: numbers, crossEntropyWeights: numbers,
    }).partial()),
  }),
  z.object({ type: z.literal('optimStep'), id, learningRate: z.number(), gradientClip: z.number().optional() }),
  z.object({ type: z.literal('writeGradients'), id, file: z.string() }),
  z.object({ type: z.literal('saveTraining'), id, folder: z.string() }),
  z.object({ type: z.literal('exportTrained'), id, folder: z.string() }),
]);

/** A request to the model's process. The answer is one `result` or one `error` with the same id. */
export type ModelRequest = z.output<typeof requestSchema>;

export const noticeSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('cancel'), id }),
  z.object({ type: z.literal('close') }),
]);

export type ModelNotice = z.output<typeof noticeSchema>;

const finishReason = z.enum(['stop', 'length']);
const row = z.object({ tokens: numbers, logprobs: numbers, finishReason });

/** The schemas of the results, by type of request. */
export const RESULTS = {
  open: description,
  try: deviceTrialSchema,
  write: z.object({ promptTokenIds: numbers, texts: z.array(row.extend({ text: z.string() })) }),
  countTokens: count,
  encode: z.object({ promptTokenIds: numbers, tokenIds: numbers }),
  generate: z.array(row),
  score: z.array(numbers),
  memory: z.object({ residentBytes: z.number().min(0) }),
  startTraining: z.null(),
  forwardBackward: z.object({ loss: z.number(), logprobs: z.array(numbers), entropies: z.array(numbers) }),
  optimStep: z.object({ gradientNorm: z.number() }),
  writeGradients: z.object({ gradientNorm: z.number() }),
  saveTraining: z.null(),
  exportTrained: z.null(),
} as const satisfies Record<ModelRequest['type'], z.ZodType>;

export type ResultOf<Type extends ModelRequest['type']> = z.output<(typeof RESULTS)[Type]>;

const progress = z.object({
  phase: z.enum(['trying', 'reading', 'quantizing', 'loading']),
  fraction: z.number().min(0).max(1).optional(),
}) satisfies z.ZodType<LoadProgress>;

export const replySchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('result'), id, value: z.unknown() }),
  z.object({ type: z.literal('error'), id, error: wireErrorSchema }),
  z.object({ type: z.literal('progress'), id, progress }),
  z.object({ type: z.literal('text'), id, sample: count, text: z.string() }),
  z.object({ type: z.literal('tokens'), id, row: count, tokens: numbers }),
]);

export type ModelReply = z.output<typeof replySchema>;

/** A message during a request, before its answer. */
export type ModelEvent = Extract<ModelReply, { readonly type: 'progress' | 'text' | 'tokens' }>;
