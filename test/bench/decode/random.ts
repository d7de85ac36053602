/** Numbers in [0, 1) that are the same in every run: Marsaglia's xorshift ("Xorshift RNGs", 2003), 32 bits. */
export function randomNumbers(seed: number): () => number {
  let state = (seed ^ 0x9e3779b9) | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
