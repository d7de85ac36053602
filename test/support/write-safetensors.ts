import { writeFile } from 'node:fs/promises';

export interface TensorToWrite {
  /** As a header spells it. For F32, F16 and BF16 values are rounded to nearest even; for any other type give bytes. */
  readonly type: string;
  readonly shape: readonly number[];
  readonly data: readonly number[] | Float32Array | Uint8Array;
}

/** Node 24 has it, the library's types do not yet. */
const { Float16Array: HalfArray } = globalThis as unknown as {
  Float16Array: new (values: ArrayLike<number>) => { buffer: ArrayBuffer };
};

export function bytesOf({ type, data }: TensorToWrite): Uint8Array {
  if (data instanceof Uint8Array) return data;
  switch (type) {
    case 'F32':
      return new Uint8Array(Float32Array.from(data).buffer);
    case 'F16':
      return new Uint8Array(new HalfArray(data).buffer);
    case 'BF16': {
      const bits = new Uint32Array(Float32Array.from(data).buffer);
      return new Uint8Array(Uint16Array.from(bits, (value) => (value + 0x7fff + ((value >>> 16) & 1)) >>> 16).buffer);
    }
    default:
      throw new RangeError(`Values of ${type} are given as bytes`);
  }
}

/** A safetensors file from a header, which may be wrong, and the bytes behind it. */
export function safetensorsOf(header: string | Uint8Array, data: Uint8Array = new Uint8Array()): Uint8Array {
  const headerBytes = typeof header === 'string' ? new TextEncoder().encode(header) : header;
  const file = new Uint8Array(8 + headerBytes.length + data.length);
  new DataView(file.buffer).setBigUint64(0, BigInt(headerBytes.length), true);
  file.set(headerBytes, 8);
  file.set(data, 8 + headerBytes.length);
  return file;
}

/** A safetensors file with these tensors in this order. */
export function encodeSafetensors(tensors: Readonly<Record<string, TensorToWrite>>): Uint8Array {
  const header: [name: string, entry: unknown][] = [['__metadata__', { format: 'pt' }]];
  const parts: Uint8Array[] = [];
  let offset = 0;
  for (const [name, tensor] of Object.entries(tensors)) {
    const bytes = bytesOf(tensor);
    header.push([name, { dtype: tensor.type, shape: tensor.shape, data_offsets: [offset, offset + bytes.length] }]);
    offset += bytes.length;
    parts.push(bytes);
  }
  const text = JSON.stringify(Object.fromEntries(header));
  // Aligned to eight bytes, as the format's own library writes.
  return safetensorsOf(text.padEnd(Math.ceil(text.length / 8) * 8), Buffer.concat(parts));
}

export async function writeSafetensors(file: string, tensors: Readonly<Record<string, TensorToWrite>>): Promise<void> {
  await writeFile(file, encodeSafetensors(tensors));
}
