import type { DecoderConfig } from '../checkpoint/decoder-config.ts';

/** The seven linear layers of a decoder layer, in the order they are used; each of them may have a low-rank pair. */
export const PROJECTIONS = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'] as const;
export type Projection = (typeof PROJECTIONS)[number];

/** Features that go into and come out of a projection: its weight is `[out, in]`. */
export function projectionSize(config: DecoderConfig, projection: Projection): { readonly in: number; readonly out: number } {
  const queries = config.attentionHeads * config.headSize;
  const keys = config.keyValueHeads * config.headSize;
  switch (projection) {
    case 'q_proj':
      return { in: config.hiddenSize, out: queries };
    case 'k_proj':
    case 'v_proj':
      return { in: config.hiddenSize, out: keys };
    case 'o_proj':
      return { in: queries, out: config.hiddenSize };
    case 'gate_proj':
    case 'up_proj':
      return { in: config.hiddenSize, out: config.intermediateSize };
    case 'down_proj':
      return { in: config.intermediateSize, out: config.hiddenSize };
  }
}
