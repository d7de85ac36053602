/** Repeatable random numbers in [0, 1): the mulberry32 generator. */
export function uniform(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function gaussian(seed: number, count: number, deviation = 0.02): Float32Array {
  const next = uniform(seed);
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  return Float32Array.from({ length: count }, () => deviation * normal());
}

/** Student's t with 4 degrees of freedom: a few weights are ten times as large as most. */
export function heavyTailed(seed: number, count: number, deviation = 0.02): Float32Array {
  const normals = gaussian(seed, count * 5, 1);
  return Float32Array.from({ length: count }, (_, index) => {
    const squares = normals.subarray(index * 5 + 1, index * 5 + 5).reduce((sum, value) => sum + value * value, 0);
    return (deviation * normals[index * 5]!) / Math.sqrt(squares / 4);
  });
}
