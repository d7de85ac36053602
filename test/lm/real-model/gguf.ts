import { readFile } from 'node:fs/promises';

/*
 * Reads a model in llama.cpp's format, version 3 (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md), little-endian, with the types
 * that the model of these tests has.
 */

export type Value = number | bigint | boolean | string | readonly Value[];

export interface Gguf {
  readonly metadata: ReadonlyMap<string, Value>;
  /** In the order of the file. */
  readonly names: readonly string[];
  /** float32, with the shape as PyTorch has it. */
  tensor(name: string): { readonly shape: readonly number[]; readonly data: Float32Array };
}

const ALIGNMENT = 32;
const BLOCK = 32;

interface Stored {
  readonly shape: readonly number[];
  readonly type: number;
  readonly offset: number;
}

export async function readGguf(file: string): Promise<Gguf> {
  const bytes = await readFile(file);
  const cursor = new Cursor(bytes);
  if (cursor.text(4) !== 'GGUF' || cursor.uint32() !== 3) throw new Error(`${file} is not GGUF of version 3.`);
  const [tensors, entries] = [cursor.length(), cursor.length()];
  const metadata = new Map<string, Value>();
  for (let at = 0; at < entries; at += 1) metadata.set(cursor.string(), cursor.value(cursor.uint32()));
  const stored = new Map<string, Stored>();
  for (let at = 0; at < tensors; at += 1) {
    const name = cursor.string();
    const shape = Array.from({ length: cursor.uint32() }, () => cursor.length()).reverse();
    stored.set(name, { shape, type: cursor.uint32(), offset: cursor.length() });
  }
  const start = Math.ceil(cursor.at / ALIGNMENT) * ALIGNMENT;
  return {
    metadata,
    names: [...stored.keys()],
    tensor: (name) => {
      const { shape, type, offset } = stored.get(name)!;
      const count = shape.reduce((a, b) => a * b, 1);
      return { shape, data: widened(new DataView(bytes.buffer, bytes.byteOffset + start + offset), type, count) };
    },
  };
}

function widened(view: DataView, type: number, count: number): Float32Array {
  const data = new Float32Array(count);
  const byBlock = (blockBytes: number, open: (at: number) => (within: number) => number): Float32Array => {
    for (let block = 0; block < count / BLOCK; block += 1) {
      const read = open(block * blockBytes);
      for (let within = 0; within < BLOCK; within += 1) data[block * BLOCK + within] = read(within);
    }
    return data;
  };
  const half = (at: number): number => halfToNumber(view.getUint16(at, true));
  switch (type) {
    case 0: return data.map((_, at) => view.getFloat32(4 * at, true));
    // Q4_1: scale, minimum, then the low nibbles of the first half of the block and the high ones of the second.
    case 3: return byBlock(20, (at) => {
      const [scale, minimum] = [half(at), half(at + 2)];
      return (within) => {
        const pair = view.getUint8(at + 4 + (within % 16));
        return scale * (within < 16 ? pair & 15 : pair >> 4) + minimum;
      };
    });
    // Q8_0
    case 8: return byBlock(34, (at) => {
      const scale = half(at);
      return (within) => scale * view.getInt8(at + 2 + within);
    });
    default: throw new Error(`GGUF's type ${type} is not read here.`);
  }
}

function halfToNumber(bits: number): number {
  const [sign, exponent, fraction] = [bits & 0x8000 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** The readers of GGUF's scalar types by their numbers. */
const SCALARS: Readonly<Record<number, (cursor: Cursor) => Value>> = {
  0: (cursor) => cursor.number(1, (view, at) => view.getUint8(at)),
  1: (cursor) => cursor.number(1, (view, at) => view.getInt8(at)),
  2: (cursor) => cursor.number(2, (view, at) => view.getUint16(at, true)),
  3: (cursor) => cursor.number(2, (view, at) => view.getInt16(at, true)),
  4: (cursor) => cursor.uint32(),
  5: (cursor) => cursor.number(4, (view, at) => view.getInt32(at, true)),
  6: (cursor) => cursor.number(4, (view, at) => view.getFloat32(at, true)),
  7: (cursor) => cursor.number(1, (view, at) => view.getUint8(at)) === 1,
  8: (cursor) => cursor.string(),
  10: (cursor) => cursor.length(),
  12: (cursor) => cursor.number(8, (view, at) => view.getFloat64(at, true)),
};
const ARRAY = 9;

class Cursor {
  at = 0;
  readonly #bytes: Buffer;
  readonly #view: DataView;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset);
  }

  number(size: number, read: (view: DataView, at: number) => number): number {
    this.at += size;
    return read(this.#view, this.at - size);
  }

  uint32(): number {
    return this.number(4, (view, at) => view.getUint32(at, true));
  }

  /** A count or an offset of 64 bits. */
  length(): number {
    return this.number(8, (view, at) => Number(view.getBigUint64(at, true)));
  }

  text(length: number): string {
    this.at += length;
    return this.#bytes.toString('utf8', this.at - length, this.at);
  }

  string(): string {
    return this.text(this.length());
  }

  value(type: number): Value {
    if (type !== ARRAY) return SCALARS[type]!(this);
    const inner = this.uint32();
    return Array.from({ length: this.length() }, () => this.value(inner));
  }
}
