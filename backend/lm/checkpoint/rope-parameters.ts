import * as z from 'zod';
import { type Fields, isFields, isSet, size, unsupported } from './config-fields.ts';
import type { RopeScaling } from './rope-scaling.ts';

export interface RopeParameters {
  readonly theta: number | undefined;
  readonly scaling: RopeScaling | undefined;
  /** The share of each head's dimensions that is rotated, the first ones. */
  readonly share: number;
}

/**
 * Reads how positions are rotated. `rope_scaling` is the form of transformers 4, `rope_parameters` that of 5, which takes precedence.
 * @param rotatesPart whether only a part of each head may be rotated
 * @throws UnsupportedModelError with the field that is invalid or not supported
 */
export function ropeParameters(config: Fields, rotatesPart = false): RopeParameters {
  let found: RopeParameters = { theta: undefined, scaling: undefined, share: shareOf(config, 'partial_rotary_factor', rotatesPart) ?? 1 };
  for (const field of ['rope_scaling', 'rope_parameters']) {
    const rope = config[field];
    if (!isSet(rope)) continue;
    // Nested objects, one for each layer type, occur only in models with several kinds of layers.
    if (!isFields(rope) || Object.values(rope).some(isFields)) throw unsupported(field, rope);
    const theta = rope.rope_theta;
    if (isSet(theta) && (typeof theta !== 'number' || theta <= 0)) throw unsupported(`${field}.rope_theta`, theta);
    const share = shareOf(rope, `${field}.partial_rotary_factor`, rotatesPart) ?? found.share;
    found = { theta: isSet(theta) ? theta as number : found.theta, scaling: ropeScaling(rope, field, config), share };
  }
  return found;
}

/**
 * How the layers of a kind rotate, in a model of two kinds. transformers 4 has a base of its own for sliding ones, and `rope_scaling` for the others.
 * @throws UnsupportedModelError
 */
export function ropeOfLayers(config: Fields, kind: 'full_attention' | 'sliding_attention'): RopeParameters {
  const all = config.rope_parameters;
  if (isSet(all) && !isFields(all)) throw unsupported('rope_parameters', all);
  const rope_parameters = isFields(all) ? all[kind] : undefined;
  if (kind === 'full_attention') return ropeParameters({ ...config, rope_parameters });
  const { theta, scaling, share } = ropeParameters({ rope_parameters });
  const local = config.rope_local_base_freq;
  if (isSet(local) && (typeof local !== 'number' || local <= 0)) throw unsupported('rope_local_base_freq', local);
  return { theta: theta ?? (isSet(local) ? local as number : undefined), scaling, share };
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
  longrope: z.looseObject({
    short_factor: z.array(z.number().positive().max(1024)).max(512), original_max_position_embeddings: size, max_position_embeddings: size,
    attention_factor: z.number().positive().max(16).nullish(),
  }).transform((rope): RopeScaling => ({
    type: 'longrope', factors: rope.short_factor, originalPositions: rope.original_max_position_embeddings,
    magnitude: rope.attention_factor ?? longMagnitude(rope.max_position_embeddings, rope.original_max_position_embeddings),
  })),
} as const satisfies Readonly<Record<string, z.ZodType<RopeScaling>>>;

/** As LongRoPE recommends (arXiv 2402.13753, as in transformers). */
const longMagnitude = (positions: number, original: number): number => (positions > original ? Math.sqrt(1 + Math.log(positions / original) / Math.log(original)) : 1);

/** What these fields of YaRN would change is not computed. */
const REFUSED_FIELDS = ['mscale', 'mscale_all_dim', 'truncate'] as const;

function ropeScaling(rope: Fields, field: string, config: Fields): RopeScaling | undefined {
  const key = ['rope_type', 'type'].find((name) => isSet(rope[name]) && rope[name] !== 'default');
  if (key === undefined) return undefined;
  const type = rope[key];
  if (typeof type !== 'string' || !Object.hasOwn(ROPE_TYPES, type)) throw unsupported(`${field}.${key}`, type);
  // `truncate` is true by default, so false changes something, too.
  const refused = REFUSED_FIELDS.find((name) => isSet(rope[name]) || (name === 'truncate' && rope[name] === false));
  if (refused) throw unsupported(`${field}.${refused}`, rope[refused]);
  const original = rope.original_max_position_embeddings ?? config.original_max_position_embeddings ?? config.max_position_embeddings;
  const parsed = ROPE_TYPES[type as keyof typeof ROPE_TYPES].safeParse({ ...rope, original_max_position_embeddings: original, max_position_embeddings: config.max_position_embeddings });
  if (parsed.success) return parsed.data;
  const name = String(parsed.error.issues[0]?.path[0]);
  throw unsupported(`${field}.${name}`, rope[name]);
}

/** @param name of the field, for people */
function shareOf({ partial_rotary_factor: share }: Fields, name: string, rotatesPart: boolean): number | undefined {
  if (!isSet(share)) return undefined;
  if (typeof share !== 'number' || !(share > 0 && share <= 1) || (share < 1 && !rotatesPart)) throw unsupported(name, share);
  return share;
}
