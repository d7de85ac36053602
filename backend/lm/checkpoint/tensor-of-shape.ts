import { CheckpointError, quoted } from './errors.ts';
import { storedTensor, type ListedTensor } from './safetensors-file.ts';
import type { StoredTensor } from './stored-tensor.ts';

/**
 * A tensor that has to be as config.json asks.
 * @throws CheckpointError
 */
export function tensorOfShape(listed: ListedTensor, shape: readonly number[]): StoredTensor {
  // Checks the type first: in a quantised model the shapes differ too, and the type is the reason.
  const stored = storedTensor(listed);
  if (listed.shape.length !== shape.length || listed.shape.some((length, axis) => length !== shape[axis])) {
    const message =
      `${listed.file}: ${quoted(listed.name)} has the shape [${listed.shape.join(', ')}], ` +
      `and config.json asks for [${shape.join(', ')}]: download the model again.`;
    throw new CheckpointError({ kind: 'wrong-shape', file: listed.file, tensor: listed.name, message });
  }
  return stored;
}
