import * as z from 'zod';
import { type ArchitectureName, ARCHITECTURES, isArchitecture } from './architectures.ts';
import { CONFIG, type Fields, isFields, isSet, malformed, size, unsupported } from './config-fields.ts';
import { quoted, UnsupportedModelError } from './errors.ts';
import { ropeOfLayers, type RopeParameters, ropeParameters } from './rope-parameters.ts';
import type { RopeScaling } from './rope-scaling.ts';
import { type SlidingLayers, slidingLayers } from './sliding-layers.ts';

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
  /** How many dimensions of each head are rotated, the first ones; all by default. */
  readonly rotarySize?: number | undefined;
  readonly rmsNormEpsilon: number;
  readonly ropeTheta: number;
  readonly ropeScaling?: RopeScaling | undefined;
  /** Layers in which tokens see only the last ones; all others rotate by `ropeTheta`. */
  readonly sliding?: SlidingLayers | undefined;
  /** The factor of the scores of attention; 1/√headSize by default. */
  readonly scoreFactor?: number | undefined;
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

const GENERATION_CONFIG = 'generation_config.json';

/** Far more than any real model has, so that lists of names stay short. */
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

/**
 * Parses a model's `config.json` and its `generation_config.json`, if there is one.
 * @throws UnsupportedModelError with the field that is missing, invalid or not supported
 */
export function parseDecoderConfig(configJson: unknown, generationConfigJson?: unknown): DecoderConfig {
  if (!isFields(configJson)) throw malformed('its content', 'is not an object');
  const architecture = architectureOf(configJson);
  const { attentionBias, queryKeyNorm } = ARCHITECTURES[architecture];
  refuseVariants(configJson, architecture);
  const { hasSlidingLayers, tiedByDefault = false, rotatesPart } = ARCHITECTURES[architecture];
  const rope = hasSlidingLayers ? ropeOfLayers(configJson, 'full_attention') : ropeParameters(configJson, rotatesPart);
  const found = validated(sizes, configJson, CONFIG);

  const attentionHeads = found.num_attention_heads;
  const keyValueHeads = found.num_key_value_heads ?? attentionHeads;
  if (attentionHeads % keyValueHeads !== 0) {
    throw malformed('num_key_value_heads', `is ${keyValueHeads}, which does not divide num_attention_heads, ${attentionHeads}`);
  }
  const ropeTheta = rope.theta ?? found.rope_theta;
  if (ropeTheta === undefined) throw malformed('rope_theta', 'is missing, and so is rope_parameters.rope_theta');
  const perHead = headSize(architecture, found.hidden_size, attentionHeads, found.head_dim);
  const rotated = rotarySize(perHead, rope);

  return {
    architecture,
    vocabularySize: found.vocab_size,
    hiddenSize: found.hidden_size,
    intermediateSize: found.intermediate_size,
    layers: found.num_hidden_layers,
    attentionHeads,
    keyValueHeads,
    headSize: perHead,
    ...(rotated < perHead && { rotarySize: rotated }),
    rmsNormEpsilon: found.rms_norm_eps,
    ropeTheta,
    ...(rope.scaling && { ropeScaling: rope.scaling }),
    ...(hasSlidingLayers && {
      sliding: slidingLayers(configJson, validated(z.looseObject({ sliding_window: size }), configJson, CONFIG).sliding_window, found.num_hidden_layers),
      scoreFactor: 1 / Math.sqrt(validated(queryScalars, configJson, CONFIG).query_pre_attn_scalar),
    }),
    maximumPositions: Math.min(found.max_position_embeddings, windowOf(configJson, architecture), rope.scaling?.type === 'longrope' ? rope.scaling.originalPositions : Infinity),
    tiedEmbeddings: found.tie_word_embeddings ?? tiedByDefault,
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
  const { activation = 'silu', hasSlidingLayers } = ARCHITECTURES[architecture];
  for (const field of ['hidden_act', 'hidden_activation']) {
    if (isSet(config[field]) && config[field] !== activation) throw unsupported(field, config[field]);
  }
  if (config.is_causal === false) throw unsupported('is_causal', config.is_causal);
  const layerTypes = config.layer_types;
  if (hasSlidingLayers) return;
  if (isSet(layerTypes)) {
    const allFull = Array.isArray(layerTypes) && layerTypes.every((type) => type === 'full_attention');
    if (!allFull) throw unsupported('layer_types', layerTypes);
  } else if (isSet(config.use_sliding_window)) {
    // transformers ignores use_sliding_window if there are layer_types.
    throw unsupported('use_sliding_window', config.use_sliding_window);
  }
}

const windows = z.looseObject({ sliding_window: size.nullish() });
const queryScalars = z.looseObject({ query_pre_attn_scalar: z.number().positive().max(2 ** 24) });

function windowOf(config: Fields, architecture: ArchitectureName): number {
  return (ARCHITECTURES[architecture].hasWindow ? validated(windows, config, CONFIG).sliding_window : undefined) ?? Infinity;
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

/** The dimensions of a head that are rotated. `scaling` has a factor for each pair of them. */
function rotarySize(headSize: number, { share, scaling }: Pick<RopeParameters, 'share' | 'scaling'>): number {
  const size = Math.floor(headSize * share);
  if (size === 0 || size % 2 !== 0) throw malformed('partial_rotary_factor', `is ${share}, and ${size} of ${headSize} dimensions cannot be rotated in pairs`);
  if (scaling?.type === 'longrope' && scaling.factors.length !== size / 2) {
    throw malformed('rope_scaling.short_factor', `has ${scaling.factors.length} factors, and ${size / 2} pairs of dimensions are rotated`);
  }
  return size;
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
