import type { DecoderConfig } from '../checkpoint/decoder-config.ts';
import { linearShapes } from '../checkpoint/decoder-weights.ts';

/** The seven linear layers of a decoder layer in the order of use. Each may have a low-rank pair. */
export const PROJECTIONS = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'] as const;
export type Projection = (typeof PROJECTIONS)[number];

/** The path of each projection below `model.layers.N.`. */
export const PROJECTION_PATHS = {
  q_proj: 'self_attn.q_proj',
  k_proj: 'self_attn.k_proj',
  v_proj: 'self_attn.v_proj',
  o_proj: 'self_attn.o_proj',
  gate_proj: 'mlp.gate_proj',
  up_proj: 'mlp.up_proj',
  down_proj: 'mlp.down_proj',
} as const satisfies Record<Projection, string>;

/** The input and output features of a projection, whose weight is `[out, in]`. */
export function projectionSize(config: DecoderConfig, projection: Projection): { readonly in: number; readonly out: number } {
  const [outSize, inSize] = linearShapes(config)[PROJECTION_PATHS[projection]];
  return { in: inSize, out: outSize };
}
