import { join } from 'node:path';
import * as z from 'zod';
import { quoted } from '../checkpoint/errors.ts';
import { AdapterError } from './errors.ts';

/** What adapter_config.json says that the weights do not show. */
export interface AdapterConfig {
  readonly rank: number;
  /** What `b · a` is multiplied by. */
  readonly scaling: number;
}

/*
 * Fields as `LoraConfig` of peft 0.17 and later has them. Which layers an adapter changes is taken from its tensors, so
 * target_modules, exclude_modules, layers_to_transform and layers_pattern are not read. The name of the base model is not
 * compared: the same model lies under many names, and shapes are checked.
 */

/** Fields that make an adapter something other than plain LoRA, where they are set to anything. */
const NEVER_SET = [
  'use_dora', 'use_qalora', 'use_bdlora', 'lora_bias', 'fan_in_fan_out', 'modules_to_save', 'trainable_token_indices',
  'target_parameters', 'rank_pattern', 'alpha_pattern', 'layer_replication', 'alora_invocation_tokens', 'arrow_config',
  'kasa_config', 'monteclora_config', 'megatron_config',
] as const;

/** Ways to begin the training that leave the base model as it is. PiSSA, OLoRA, CorDA, LoftQ and LoRA-GA change its weights. */
const HARMLESS_BEGINNINGS: readonly unknown[] = [undefined, null, true, false, 'gaussian', 'eva', 'orthogonal'];

const schema = z.looseObject({
  r: z.int().min(1).max(4096),
  lora_alpha: z.number(),
  use_rslora: z.boolean().nullish(),
});

/**
 * @throws AdapterError naming the field that is missing, wrong, or asks for what Conductor does not run.
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

/** Whether a field says anything: absent, null, false and empty lists and objects are all ways to leave it out. */
function isSet(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === '') return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}
