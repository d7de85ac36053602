import { type Fields, isSet, malformed, unsupported } from './config-fields.ts';
import { ropeOfLayers } from './rope-parameters.ts';

/** The layers of a model in which a token sees no more than the last tokens. They rotate by a base of their own. */
export interface SlidingLayers {
  /** How many tokens one sees, itself included. */
  readonly window: number;
  readonly ropeTheta: number;
  /** For each layer of the model whether it is one of these. */
  readonly layers: readonly boolean[];
}

/** @throws UnsupportedModelError with the field that is missing, invalid or not supported */
export function slidingLayers(config: Fields, window: number, layerCount: number): SlidingLayers {
  const { theta, scaling } = ropeOfLayers(config, 'sliding_attention');
  if (scaling !== undefined) throw unsupported('rope_parameters.sliding_attention', scaling.type);
  if (theta === undefined) throw malformed('rope_local_base_freq', 'is missing, and so is rope_parameters.sliding_attention');
  return { window, ropeTheta: theta, layers: isSet(config.layer_types) ? byTypes(config.layer_types, layerCount) : byPattern(config, layerCount) };
}

const TYPES: readonly unknown[] = ['sliding_attention', 'full_attention'];

function byTypes(types: unknown, layerCount: number): boolean[] {
  if (!Array.isArray(types) || types.length !== layerCount || !types.every((type) => TYPES.includes(type))) throw unsupported('layer_types', types);
  return types.map((type) => type === 'sliding_attention');
}

/** The older form: each n-th layer sees all. */
function byPattern(config: Fields, layerCount: number): boolean[] {
  const field = isSet(config._sliding_window_pattern) ? '_sliding_window_pattern' : 'sliding_window_pattern';
  const every = config[field];
  if (typeof every !== 'number' || !Number.isInteger(every) || every < 1) throw unsupported(field, every);
  return Array.from({ length: layerCount }, (_, layer) => (layer + 1) % every !== 0);
}
