import { linearShapes } from '../checkpoint/decoder-weights.ts';
import type { Checkpoint } from '../checkpoint/open-checkpoint.ts';
import { encodeSafetensorsHead, SAFETENSORS_ALIGNMENT } from '../checkpoint/safetensors-head.ts';
import type { StoredTensor } from '../checkpoint/stored-tensor.ts';
import { blocksPerRow, type BlockFormat, type QuantizedBits, zeroPointBytesPerRow } from './block-quantize.ts';
import type { StoredRange } from './quantized-tensor.ts';

/*
 * The layout of a quantised model's file: its weights, their formats and their positions. It is a safetensors file, so that other
 * tools can read it. The layout depends only on the checkpoint's geometry and the format, so a file on disk is checked by
 * comparing its header byte by byte.
 */

/** Increase it whenever the same checkpoint would give other bytes: files of an earlier version are made anew and removed. */
export const QUANTIZED_FILE_VERSIONS: Readonly<Record<QuantizedBits, number>> = { 4: 2, 8: 1 };

/** Errors in the output layer directly change the sampled tokens, so it has 8 bits in both formats. */
const HEAD_BITS: QuantizedBits = 8;

/** A range of bytes, from the start of the file. */
export type ByteRange = Omit<StoredRange, 'file'>;

export interface PlannedTensor {
  readonly name: string;
  readonly source: StoredTensor;
  readonly format: BlockFormat;
  readonly rows: number;
  readonly columns: number;
  readonly blocks: ByteRange;
  readonly scales: ByteRange;
  readonly zeroPoints?: ByteRange | undefined;
}

export interface QuantizedFilePlan {
  /** All bytes before the first tensor. */
  readonly head: Uint8Array;
  readonly byteLength: number;
  readonly tensors: readonly PlannedTensor[];
}

/**
 * Plans the linear layers of attention and MLP in `format`, and the output layer in 8 bits. With tied embeddings, the output layer
 * is a quantised copy of the embedding table, while look-ups use the exact original rows.
 * Norms, biases and the embedding table stay in the checkpoint.
 */
export function planQuantizedFile(checkpoint: Checkpoint, format: BlockFormat): QuantizedFilePlan {
  const data = new DataSection();
  const tensors = weightsToQuantize(checkpoint, format).map(({ name, source, format }) => {
    const [rows = 0, columns = 0] = source.shape;
    const blocks = blocksPerRow(columns, format);
    const zeroPointBytes = zeroPointBytesPerRow(columns, format);
    return {
      name,
      source,
      format,
      rows,
      columns,
      blocks: data.add(`${name}.blocks`, 'U8', [rows, blocks, (format.blockSize * format.bits) / 8]),
      scales: data.add(`${name}.scales`, 'F32', [rows, blocks]),
      zeroPoints: zeroPointBytes > 0 ? data.add(`${name}.zero_points`, 'U8', [rows, zeroPointBytes]) : undefined,
    };
  });
  const head = encodeSafetensorsHead({
    __metadata__: { producer: 'conductor', version: `${QUANTIZED_FILE_VERSIONS[format.bits]}`, checkpoint: checkpoint.fingerprint },
    ...data.entries,
  });
  const behindHead = ({ offset, byteLength }: ByteRange): ByteRange => ({ offset: head.length + offset, byteLength });
  return {
    head,
    byteLength: head.length + data.byteLength,
    tensors: tensors.map((tensor) => ({
      ...tensor, blocks: behindHead(tensor.blocks), scales: behindHead(tensor.scales), zeroPoints: tensor.zeroPoints && behindHead(tensor.zeroPoints),
    })),
  };
}

function weightsToQuantize({ config, tensors }: Checkpoint, format: BlockFormat) {
  const layers = Array.from({ length: config.layers }, (_, layer) => `model.layers.${layer}`);
  const projections = Object.keys(linearShapes(config));
  const linear = layers.flatMap((layer) => projections.map((projection) => `${layer}.${projection}.weight`));
  const head = config.tiedEmbeddings ? 'model.embed_tokens.weight' : 'lm_head.weight';
  // An open checkpoint has all tensors of its geometry.
  const weight = (name: string, form: BlockFormat) => ({ name, source: tensors.get(name)!, format: form });
  return [...linear.map((name) => weight(name, format)), weight(head, { ...format, bits: HEAD_BITS })];
}

const ELEMENT_BYTES = { U8: 1, F32: 4 };

/** Lays out the bytes after the header. */
class DataSection {
  readonly entries: Record<string, object> = {};
  byteLength = 0;

  add(name: string, dtype: keyof typeof ELEMENT_BYTES, shape: readonly number[]): ByteRange {
    // The format allows no gaps, so padding is a tensor too.
    const padding = -this.byteLength & (SAFETENSORS_ALIGNMENT - 1);
    if (padding > 0) this.#append(`padding.${this.byteLength}`, 'U8', [padding]);
    return this.#append(name, dtype, shape);
  }

  #append(name: string, dtype: keyof typeof ELEMENT_BYTES, shape: readonly number[]): ByteRange {
    const offset = this.byteLength;
    const byteLength = shape.reduce((product, length) => product * length, ELEMENT_BYTES[dtype]);
    this.byteLength += byteLength;
    this.entries[name] = { dtype, shape, data_offsets: [offset, this.byteLength] };
    return { offset, byteLength };
  }
}
