import type { StoredType } from './stored-tensor.ts';

export const BYTES_PER_VALUE: Readonly<Record<StoredType, number>> = { float32: 4, float16: 2, bfloat16: 2 };

/**
 * Writes stored values into `target` as float32, from index `start` on. The conversion of float16 and bfloat16 is exact.
 * The files are little-endian, as are all machines that onnxruntime-node runs on.
 */
export function widen(type: StoredType, bytes: Uint8Array, target: Float32Array, start: number): void {
  const { buffer, byteOffset, byteLength } = bytes;
  const count = byteLength / BYTES_PER_VALUE[type];
  const bits = new Uint32Array(target.buffer, target.byteOffset + start * 4, count);
  if (type === 'float32') {
    bits.set(new Uint32Array(buffer, byteOffset, count));
    return;
  }
  const stored = new Uint16Array(buffer, byteOffset, count);
  // A bfloat16 is the upper half of a float32.
  if (type === 'bfloat16') for (let index = 0; index < count; index += 1) bits[index] = (stored[index] ?? 0) << 16;
  else for (let index = 0; index < count; index += 1) target[start + index] = fromHalf(stored[index] ?? 0);
}

/** Converts IEEE 754 binary16: a sign bit, five exponent bits with a bias of 15, and ten fraction bits. */
function fromHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 0x1f) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
