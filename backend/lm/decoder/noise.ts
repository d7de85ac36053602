/*
 * Uniform numbers of a row, which depend only on its seed. SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
 * generators", 2014): the n-th number is a function of seed and n, so that a later chunk can begin anywhere in the sequence.
 */

const GOLDEN = 0x9e3779b97f4a7c15n;
const MASK = (1n << 64n) - 1n;

/** The number at `index`: in [0, 1), a multiple of 2^-24, which float32 represents exactly. */
export function uniform(seed: number, index: number): number {
  let z = (mix(BigInt(Math.trunc(seed)) & MASK) + BigInt(index + 1) * GOLDEN) & MASK;
  z = mix(z);
  return Number(z >> 40n) / 2 ** 24;
}

function mix(value: bigint): bigint {
  let z = value;
  z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
  z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & MASK;
  return z ^ (z >> 31n);
}
