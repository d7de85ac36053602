import { ARCHITECTURES } from '../checkpoint/architectures.ts';
import type { DecoderConfig } from '../checkpoint/decoder-config.ts';
import { fusedParts, rowRanges } from '../checkpoint/fused-tensors.ts';
import type { ListedTensor } from '../checkpoint/safetensors-file.ts';

/**
 * The tensors of an adapter with each pair of a fused matrix as pairs of the matrices it consists of: they share A, and have their rows of B.
 * A B with another number of rows stays as it is: it belongs to no matrix of this model.
 */
export function withoutFusedPairs(tensors: readonly ListedTensor[], config: DecoderConfig): readonly ListedTensor[] {
  return ARCHITECTURES[config.architecture].fusedProjections ? tensors.flatMap((tensor) => pairsOf(tensor, config)) : tensors;
}

function pairsOf(tensor: ListedTensor, config: DecoderConfig): ListedTensor[] {
  const [, layer, path, end] = /^(base_model\.model\.model\.layers\.\d+\.)(.+)(\.lora_[AB]\.weight)$/.exec(tensor.name) ?? [];
  const parts = path === undefined ? undefined : fusedParts(path, config)?.map(({ name, rows }) => ({ name: `${layer}${name}${end}`, rows }));
  if (parts === undefined) return [tensor];
  if (end?.startsWith('.lora_A')) return parts.map(({ name }) => ({ ...tensor, name }));
  return tensor.shape[0] === parts.reduce((sum, { rows }) => sum + rows, 0) ? rowRanges(tensor, parts) : [tensor];
}
