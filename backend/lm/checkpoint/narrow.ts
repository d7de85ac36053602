/**
 * Float32 values as bfloat16, their upper halves, rounded to the nearest and ties to even, as PyTorch rounds. NaN stays NaN.
 */
export function narrow(values: Float32Array): Uint16Array {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  return Uint16Array.from(bits, (word) => {
    const isNaN = (word & 0x7fffffff) > 0x7f800000;
    return isNaN ? (word >>> 16) | 0x40 : (word + 0x7fff + ((word >>> 16) & 1)) >>> 16;
  });
}
