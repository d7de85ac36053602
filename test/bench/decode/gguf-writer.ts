import type { FileHandle } from 'node:fs/promises';

/*
 * GGUF, version 3, as docs/gguf.md of ggml-org/ggml describes it: a header with key-value pairs and the tensors' names, shapes
 * and places, then the tensors' bytes, each at a multiple of the alignment. Little-endian.
 */

const ALIGNMENT = 32;
const VERSION = 3;
const VALUE_TYPES = { uint32: 4, float32: 6, string: 8, strings: 9 } as const;
/** ggml's numbers for the types of tensors. */
const TENSOR_TYPES = { F32: 0, Q4_0: 2, Q8_0: 8 } as const;

export type MetadataValue =
  | { readonly type: 'uint32' | 'float32'; readonly value: number }
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'strings'; readonly value: readonly string[] };

export interface GgufTensor {
  readonly name: string;
  /** Row-major, the last dimension contiguous, as in the checkpoint; GGUF lists them the other way round. */
  readonly shape: readonly number[];
  readonly type: keyof typeof TENSOR_TYPES;
  readonly byteLength: number;
  readonly bytes: () => AsyncIterable<Uint8Array>;
}

export type Metadata = Readonly<Record<string, MetadataValue>>;

export async function writeGguf(file: FileHandle, metadata: Metadata, tensors: readonly GgufTensor[]): Promise<void> {
  const head = encodeHead(metadata, tensors);
  await file.write(head);
  for (const tensor of tensors) {
    let written = 0;
    for await (const bytes of tensor.bytes()) {
      await file.write(bytes);
      written += bytes.length;
    }
    if (written !== tensor.byteLength) throw new Error(`${tensor.name} has ${written} bytes instead of ${tensor.byteLength}.`);
    await file.write(Buffer.alloc(aligned(written) - written));
  }
}

const aligned = (length: number): number => Math.ceil(length / ALIGNMENT) * ALIGNMENT;

function encodeHead(metadata: Metadata, tensors: readonly GgufTensor[]): Buffer {
  const parts: Buffer[] = [
    Buffer.from('GGUF'), uint32(VERSION), uint64(tensors.length), uint64(Object.keys(metadata).length),
    ...Object.entries(metadata).flatMap(([key, value]) => [string(key), uint32(VALUE_TYPES[value.type]), encodeValue(value)]),
  ];
  let offset = 0;
  for (const { name, shape, type, byteLength } of tensors) {
    const dimensions = [uint32(shape.length), ...shape.toReversed().map(uint64)];
    parts.push(string(name), ...dimensions, uint32(TENSOR_TYPES[type]), uint64(offset));
    offset += aligned(byteLength);
  }
  const head = Buffer.concat(parts);
  return Buffer.concat([head, Buffer.alloc(aligned(head.length) - head.length)]);
}

function encodeValue(value: MetadataValue): Buffer {
  if (value.type === 'string') return string(value.value);
  if (value.type === 'strings') {
    return Buffer.concat([uint32(VALUE_TYPES.string), uint64(value.value.length), ...value.value.map(string)]);
  }
  return value.type === 'uint32' ? uint32(value.value) : float32(value.value);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function float32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes;
}

function string(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([uint64(bytes.length), bytes]);
}
