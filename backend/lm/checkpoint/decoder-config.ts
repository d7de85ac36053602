import * as z from 'zod';
import { type ArchitectureName, ARCHITECTURES, isArchitecture } from './architectures.ts';
import { quoted, UnsupportedModelError } from './errors.ts';
import type { RopeScaling } from './rope-scaling.ts';

/** The geometry of a dense decoder: everything that the graph needs in addition to the weights. */
export interface DecoderConfig {
  readonly architecture: ArchitectureName;
  readonly vocabularySize: number;
  readonly hiddenSize: number;
  readonly intermediateSize: number;
  readonly layers: number;
  readonly attentionHeads: number;
  readonly keyValueHeads: number;
  readonly headSize: number;
  readonly rmsNormEpsilon: number;
  readonly ropeTheta: number;
  readonly ropeScaling?: RopeScaling | undefined;
  readonly maximumPositions: number;
  /** The output layer is the embedding table, transposed. */
  readonly tiedEmbeddings: boolean;
  /** From the architecture (`architectures.ts`). */
  readonly attentionBias: boolean;
  readonly queryKeyNorm: boolean;
  /** Each of these tokens ends a text. */
  readonly stopTokenIds: readonly number[];
}

/*
 * Fields and defaults follow the architectures' classes, such as `Qwen2Config`, of transformers 4.57 and 5.x. `rope_theta` and `torch_dtype` are
 * the old form; version 5 writes `rope_parameters` and `dtype`. The type of the weights comes from the weight files. A field
 * that defines the model has no default here, even if transformers has one.
 */

const CONFIG = 'config.json';
const GENERATION_CONFIG = 'generation_config.json';

/** Far larger than any real model. The limits keep products of sizes exact and lists of names short. */
const size = z.int().min(1).max(2 ** 24);
const layerCount = z.int().min(1).max(1024);

const sizes = z.looseObject({
  vocab_size: size,
  hidden_size: size,
  intermediate_size: size,
  num_hidden_layers: layerCount,
  num_attention_heads: size,
  num_key_value_heads: size.nullish(),
  head_dim: size.nullish(),
  rms_norm_eps: z.number().positive().max(1),
  rope_theta: z.number().positive().optional(),
  max_position_embeddings: size,
  tie_word_embeddings: z.boolean().optional(),
});

const tokenId = z.int().min(0);
const stopTokens = z.looseObject({ eos_token_id: z.union([tokenId, z.array(tokenId).max(1024)]).nullish() });

type Fields = Readonly<Record<string, unknown>>;

/**
 * Parses a model's `config.json` and its `generation_config.json`, if there is one.
 * @throws UnsupportedModelError with the field that is missing, invalid or not supported
 */
export function parseDecoderConfig(configJson: unknown, generationConfigJson?: unknown): DecoderConfig {
  if (!isFields(configJson)) throw malformed('its content', 'is not an object');
  const architecture = architectureOf(configJson);
  const { attentionBias, queryKeyNorm } = ARCHITECTURES[architecture];
  refuseVariants(configJson, architecture);
  const rope = ropeParameters(configJson);
  const found = validated(sizes, configJson, CONFIG);

  const attentionHeads = found.num_attention_heads;
  const keyValueHeads = found.num_key_value_heads ?? attentionHeads;
  if (attentionHeads % keyValueHeads !== 0) {
    throw malformed('num_key_value_heads', `is ${keyValueHeads}, which does not divide num_attention_heads, ${attentionHeads}`);
  }
  const ropeTheta = rope.theta ?? found.rope_theta;
  if (ropeTheta === undefined) throw malformed('rope_theta', 'is missing, and so is rope_parameters.rope_theta');

  return {
    architecture,
    vocabularySize: found.vocab_size,
    hiddenSize: found.hidden_size,
    intermediateSize: found.intermediate_size,
    layers: found.num_hidden_layers,
    attentionHeads,
    keyValueHeads,
    headSize: headSize(architecture, found.hidden_size, attentionHeads, found.head_dim),
    rmsNormEpsilon: found.rms_norm_eps,
    ropeTheta,
    ...(rope.scaling && { ropeScaling: rope.scaling }),
    maximumPositions: found.max_position_embeddings,
    tiedEmbeddings: found.tie_word_embeddings ?? false,
    attentionBias,
    queryKeyNorm,
    stopTokenIds: stopTokenIds(configJson, generationConfigJson),
  };
}

function architectureOf(config: Fields): ArchitectureName {
  const type = config.model_type;
  if (!isArchitecture(type)) throw unsupported('model_type', type);
  const models = config.architectures;
  if (models !== undefined && models !== null && !(Array.isArray(models) && models.includes(ARCHITECTURES[type].causalModel))) {
    throw unsupported('architectures', models);
  }
  return type;
}

/** Fields that change what any model computes and are refused if they are set. */
const NEVER_SET = [
  'quantization_config', 'compression_config', 'num_experts', 'num_local_experts', 'n_routed_experts', 'num_experts_per_tok',
  'moe_intermediate_size', 'mlp_bias', 'use_mrope',
] as const;

function refuseVariants(config: Fields, architecture: ArchitectureName): void {
  for (const field of [...NEVER_SET, ...ARCHITECTURES[architecture].refusedFields]) if (isSet(config[field])) throw unsupported(field, config[field]);
  if (isSet(config.hidden_act) && config.hidden_act !== 'silu') throw unsupported('hidden_act', config.hidden_act);
  if (config.is_causal === false) throw unsupported('is_causal', config.is_causal);
  const layerTypes = config.layer_types;
  if (isSet(layerTypes)) {
    const allFull = Array.isArray(layerTypes) && layerTypes.every((type) => type === 'full_attention');
    if (!allFull) throw unsupported('layer_types', layerTypes);
  } else if (isSet(config.use_sliding_window)) {
    // transformers ignores use_sliding_window if there are layer_types.
    throw unsupported('use_sliding_window', config.use_sliding_window);
  }
}

interface RopeParameters {
  readonly theta: number | undefined;
  readonly scaling: RopeScaling | undefined;
}

/** `rope_scaling` is the form of transformers 4, `rope_parameters` that of 5, which takes precedence. */
function ropeParameters(config: Fields): RopeParameters {
  let found: RopeParameters = { theta: undefined, scaling: undefined };
  for (const field of ['rope_scaling', 'rope_parameters']) {
    const rope = config[field];
    if (!isSet(rope)) continue;
    // Nested objects, one for each layer type, occur only in models with several kinds of layers.
    if (!isFields(rope) || Object.values(rope).some(isFields)) throw unsupported(field, rope);
    refusePartialRotation(rope.partial_rotary_factor, `${field}.partial_rotary_factor`);
    const theta = rope.rope_theta;
    if (isSet(theta) && (typeof theta !== 'number' || theta <= 0)) throw unsupported(`${field}.rope_theta`, theta);
    found = { theta: isSet(theta) ? theta as number : found.theta, scaling: ropeScaling(rope, field, config) };
  }
  refusePartialRotation(config.partial_rotary_factor, 'partial_rotary_factor');
  return found;
}

const factor = z.number().min(1).max(1024);
const turns = z.number().positive().max(1024);
const ROPE_TYPES = {
  linear: z.looseObject({ factor }).transform((rope): RopeScaling => ({ type: 'linear', factor: rope.factor })),
  llama3: z.looseObject({ factor, low_freq_factor: turns, high_freq_factor: turns, original_max_position_embeddings: size })
    .refine((rope) => rope.high_freq_factor > rope.low_freq_factor, { path: ['high_freq_factor'] })
    .transform((rope): RopeScaling => ({
      type: 'llama3', factor: rope.factor, lowFrequencyFactor: rope.low_freq_factor, highFrequencyFactor: rope.high_freq_factor,
      originalPositions: rope.original_max_position_embeddings,
    })),
  yarn: z.looseObject({
    factor, original_max_position_embeddings: size, beta_fast: turns.nullish(), beta_slow: turns.nullish(),
    attention_factor: z.number().positive().max(16).nullish(),
  }).transform((rope): RopeScaling => ({
    type: 'yarn', factor: rope.factor, fast: rope.beta_fast ?? 32, slow: rope.beta_slow ?? 1,
    originalPositions: rope.original_max_position_embeddings,
    // As YaRN recommends (arXiv 2309.00071, 3.4).
    magnitude: rope.attention_factor ?? 0.1 * Math.log(rope.factor) + 1,
  })),
} as const satisfies Readonly<Record<string, z.ZodType<RopeScaling>>>;

/** What these fields of YaRN would change is not computed. */
const REFUSED_ROPE_FIELDS = ['mscale', 'mscale_all_dim', 'truncate'] as const;

function ropeScaling(rope: Fields, field: string, config: Fields): RopeScaling | undefined {
  const types = ['rope_type', 'type'].filter((key) => isSet(rope[key]) && rope[key] !== 'default');
  const [key] = types;
  if (key === undefined) return undefined;
  const type = rope[key];
  if (typeof type !== 'string' || !Object.hasOwn(ROPE_TYPES, type)) throw unsupported(`${field}.${key}`, type);
  const refused = REFUSED_ROPE_FIELDS.find((name) => isSet(rope[name]));
  if (refused) throw unsupported(`${field}.${refused}`, rope[refused]);
  const original = rope.original_max_position_embeddings ?? config.original_max_position_embeddings ?? config.max_position_embeddings;
  const parsed = ROPE_TYPES[type as keyof typeof ROPE_TYPES].safeParse({ ...rope, original_max_position_embeddings: original });
  if (parsed.success) return parsed.data;
  const name = String(parsed.error.issues[0]?.path[0]);
  throw unsupported(`${field}.${name}`, rope[name]);
}

function refusePartialRotation(factor: unknown, field: string): void {
  if (isSet(factor) && factor !== 1) throw unsupported(field, factor);
}

function headSize(
  architecture: ArchitectureName,
  hiddenSize: number,
  attentionHeads: number,
  given: number | null | undefined,
): number {
  const headSize = given ?? ARCHITECTURES[architecture].defaultHeadSize ?? hiddenSize / attentionHeads;
  if (!Number.isInteger(headSize)) {
    throw malformed('num_attention_heads', `is ${attentionHeads}, which does not divide hidden_size, ${hiddenSize}`);
  }
  if (headSize % 2 !== 0) throw malformed('head_dim', `is ${headSize}, and an odd size cannot be rotated in pairs`);
  return headSize;
}

function stopTokenIds(config: Fields, generationConfig: unknown): readonly number[] {
  const { eos_token_id: fromConfig } = validated(stopTokens, config, CONFIG);
  if (generationConfig !== undefined && !isFields(generationConfig)) {
    throw new UnsupportedModelError(GENERATION_CONFIG, 'its content', 'is not an object');
  }
  const { eos_token_id: fromGeneration } = validated(stopTokens, generationConfig ?? {}, GENERATION_CONFIG);
  // Chat models often end a turn with another token than the one in config.json, so generation_config.json takes precedence.
  const ids = fromGeneration ?? fromConfig ?? [];
  return typeof ids === 'number' ? [ids] : [...new Set(ids)];
}

function validated<T extends z.ZodType>(schema: T, fields: Fields, file: string): z.output<T> {
  const parsed = schema.safeParse(fields);
  if (parsed.success) return parsed.data;
  const field = parsed.error.issues[0]?.path[0];
  const name = field === undefined ? 'its content' : String(field);
  const value = fields[name];
  throw new UnsupportedModelError(file, name, value === undefined ? 'is missing' : `is ${quoted(value)}, which is not valid`);
}

function unsupported(field: string, value: unknown): UnsupportedModelError {
  return malformed(field, value === undefined ? 'is missing' : `is ${quoted(value)}`);
}

function malformed(field: string, problem: string): UnsupportedModelError {
  return new UnsupportedModelError(CONFIG, field, problem);
}

/** Whether a field is set. Absent, null, false and 0 count as not set. */
function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && value !== 0;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
