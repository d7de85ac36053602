import { seededUniforms } from './seeded-uniforms.ts';

/** Standard normal numbers that follow from a seed (Box and Muller). */
export function normals(count: number, seed: number): Float32Array {
  const uniform = seededUniforms(seed);
  return Float32Array.from({ length: count }, () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform()));
}
