/*
 * Converts numbers to the bits of float16 (IEEE 754) and bfloat16, rounded to nearest with ties to even. Node 22, on which VS Code may run the
 * model, has no Float16Array.
 */

const SMALLEST_NORMAL = 2 ** -14;
const STEP_BELOW_NORMAL = 2 ** -24;
/** Halfway between the largest float16 number and the next power of two; from here on values round to infinity. */
const INFINITE_FROM = 65_520;

export function float16Bits(value: number): number {
  if (Number.isNaN(value)) return 0x7e00;
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const size = Math.abs(value);
  if (size >= INFINITE_FROM) return sign | 0x7c00;
  if (size < SMALLEST_NORMAL) return sign | roundToEven(size / STEP_BELOW_NORMAL);
  let exponent = Math.floor(Math.log2(size));
  if (2 ** exponent > size) exponent -= 1;
  else if (2 ** (exponent + 1) <= size) exponent += 1;
  // A mantissa that rounds up to 2 carries into the exponent.
  return sign | (((exponent + 15) << 10) + roundToEven(size / 2 ** (exponent - 10)) - 1024);
}

function roundToEven(value: number): number {
  const below = Math.floor(value);
  const rest = value - below;
  return rest > 0.5 || (rest === 0.5 && below % 2 === 1) ? below + 1 : below;
}

/** The upper half of the float32 bits, rounded. */
export function bfloat16Bits(value: number): number {
  if (Number.isNaN(value)) return 0x7fc0;
  const bits = new Uint32Array(Float32Array.of(value).buffer)[0] as number;
  return (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16;
}
