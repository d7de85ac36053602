import type { DecoderConfig } from './decoder-config.ts';
import type { StoredTensor } from './stored-tensor.ts';

/** A model's folder that was looked through: its geometry and where each weight lies. No weight is in memory. */
export interface Checkpoint {
  /** Absolute path, as given. */
  readonly folder: string;
  readonly config: DecoderConfig;
  readonly tensors: ReadonlyMap<string, StoredTensor>;
  /** Changes when a weight file changes: made of sizes, modification times and headers. */
  readonly fingerprint: string;
}
