/** Draws of the standard normal distribution from uniform ones in [0, 1): Box and Muller's method. */
export function normalDraws(uniform: () => number): () => number {
  return () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
}
