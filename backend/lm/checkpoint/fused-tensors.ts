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
  const parts = path === undefined ? undefined : fusedParts(path, config);
  if (parts === undefined) return [tensor];
  tensorOfShape(tensor, [parts.reduce((sum, { rows }) => sum + rows, 0), config.hiddenSize]);
  return rowRanges(tensor, parts.map(({ name, rows }) => ({ name: `${layer}${name}.weight`, rows })));
}

/** The matrices of which a fused one consists, by its path below `model.layers.N.`, and how many rows each has; undefined for other matrices. */
export function fusedParts(path: string, config: DecoderConfig): { readonly name: string; readonly rows: number }[] | undefined {
  if (!Object.hasOwn(FUSED, path)) return undefined;
  const shapes = linearShapes(config);
  return FUSED[path as keyof typeof FUSED].map((name) => ({ name, rows: shapes[name][0] }));
}

/** A matrix as several, each with the next rows of it. */
export function rowRanges(tensor: ListedTensor, parts: readonly { readonly name: string; readonly rows: number }[]): ListedTensor[] {
  const [allRows = 1, ...others] = tensor.shape;
  let { offset } = tensor;
  return parts.map(({ name, rows }) => {
    const part = { ...tensor, name, shape: [rows, ...others], offset, byteLength: (tensor.byteLength / allRows) * rows };
    offset += part.byteLength;
    return part;
  });
}
