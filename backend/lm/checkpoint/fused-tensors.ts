import { ARCHITECTURES } from './architectures.ts';
import type { DecoderConfig } from './decoder-config.ts';
import { linearShapes } from './decoder-weights.ts';
import type { ListedTensor } from './safetensors-file.ts';
import { tensorOfShape } from './tensor-of-shape.ts';

const FUSED = {
  'self_attn.qkv_proj': ['self_attn.q_proj', 'self_attn.k_proj', 'self_attn.v_proj'],
  'mlp.gate_up_proj': ['mlp.gate_proj', 'mlp.up_proj'],
} as const;

/**
 * The tensors with each fused matrix as the matrices it consists of: rows of a matrix are a range of its file, so nothing is copied.
 * @throws CheckpointError if a fused matrix has a type that cannot be read, or another shape than its parts together
 */
export function withoutFused(listed: ReadonlyMap<string, ListedTensor>, config: DecoderConfig): ReadonlyMap<string, ListedTensor> {
  if (!ARCHITECTURES[config.architecture].fusedProjections) return listed;
  return new Map([...listed.values()].flatMap((tensor) => partsOf(tensor, config)).map((tensor) => [tensor.name, tensor]));
}

function partsOf(tensor: ListedTensor, config: DecoderConfig): ListedTensor[] {
  const [, layer, path] = /^(model\.layers\.\d+\.)(.+)\.weight$/.exec(tensor.name) ?? [];
  if (path === undefined || !Object.hasOwn(FUSED, path)) return [tensor];
  const shapes = linearShapes(config);
  const parts = FUSED[path as keyof typeof FUSED].map((name) => ({ name, shape: shapes[name] }));
  const rows = parts.reduce((sum, { shape }) => sum + shape[0], 0);
  tensorOfShape(tensor, [rows, config.hiddenSize]);
  const rowBytes = tensor.byteLength / rows;
  let { offset } = tensor;
  return parts.map(({ name, shape }) => {
    const part = { ...tensor, name: `${layer}${name}.weight`, shape, offset, byteLength: shape[0] * rowBytes };
    offset += part.byteLength;
    return part;
  });
}
