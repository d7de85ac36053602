/**
 * Rounds float32 values to bfloat16, their upper halves, to nearest with ties to even, like PyTorch. NaN stays NaN.
 */
export function narrow(values: Float32Array): Uint16Array {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  return Uint16Array.from(bits, (word) => {
    const isNaN = (word & 0x7fffffff) > 0x7f800000;
    return isNaN ? (word >>> 16) | 0x40 : (word + 0x7fff + ((word >>> 16) & 1)) >>> 16;
  });
}
