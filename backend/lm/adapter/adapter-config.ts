import { join } from 'node:path';
import * as z from 'zod';
import { quoted } from '../checkpoint/errors.ts';
import { AdapterError } from './errors.ts';

/** The settings of adapter_config.json that cannot be derived from the weights. */
export interface AdapterConfig {
  readonly rank: number;
  /** The factor of `b · a`. */
  readonly scaling: number;
}

/*
 * Fields follow `LoraConfig` of peft 0.17 and later. The tensors show which layers an adapter changes, so target_modules,
 * exclude_modules, layers_to_transform and layers_pattern are not read. The name of the base model is not compared, because
 * one model has many names; shapes are checked instead.
 */

/** Fields that, if set, make an adapter something other than plain LoRA. */
const NEVER_SET = [
  'use_dora', 'use_qalora', 'use_bdlora', 'lora_bias', 'fan_in_fan_out', 'modules_to_save', 'trainable_token_indices',
  'target_parameters', 'rank_pattern', 'alpha_pattern', 'layer_replication', 'alora_invocation_tokens', 'arrow_config',
  'kasa_config', 'monteclora_config', 'megatron_config',
] as const;

/** Initialisations that do not change the base weights. PiSSA, OLoRA, CorDA, LoftQ and LoRA-GA change them. */
const HARMLESS_BEGINNINGS: readonly unknown[] = [undefined, null, true, false, 'gaussian', 'eva', 'orthogonal'];

const schema = z.looseObject({
  r: z.int().min(1).max(4096),
  lora_alpha: z.number(),
  use_rslora: z.boolean().nullish(),
});

/**
 * @throws AdapterError with the field that is missing, invalid or not supported
 */
export function parseAdapterConfig(folder: string, json: unknown): AdapterConfig {
  const refuse = (field: string, value: unknown) => {
    const message =
      `${join(folder, 'adapter_config.json')}: ${field} is ${value === undefined ? 'missing' : quoted(value)}, ` +
      'and Conductor uses plain LoRA adapters: choose one of these, or train it again without that.';
    return new AdapterError({ folder, field, message });
  };
  const fields = z.looseObject({}).safeParse(json).data;
  if (fields === undefined) throw refuse('its content', json);
  if (fields.peft_type !== 'LORA') throw refuse('peft_type', fields.peft_type);
  for (const field of NEVER_SET) if (isSet(fields[field])) throw refuse(field, fields[field]);
  if (isSet(fields.bias) && fields.bias !== 'none') throw refuse('bias', fields.bias);
  if (!HARMLESS_BEGINNINGS.includes(fields.init_lora_weights)) throw refuse('init_lora_weights', fields.init_lora_weights);

  const parsed = schema.safeParse(fields);
  if (!parsed.success) {
    const field = String(parsed.error.issues[0]?.path[0]);
    throw refuse(field, fields[field]);
  }
  const { r: rank, lora_alpha: alpha, use_rslora: rankStabilised } = parsed.data;
  return { rank, scaling: alpha / (rankStabilised === true ? Math.sqrt(rank) : rank) };
}

/** Whether a field is set. Absent, null, false, an empty text, list or object count as not set. */
function isSet(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === '') return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}
