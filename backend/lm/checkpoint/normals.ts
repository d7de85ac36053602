import { seededUniforms } from './seeded-uniforms.ts';

/** Seeded standard normal numbers (Box and Muller). */
export function normals(count: number, seed: number): Float32Array {
  const uniform = seededUniforms(seed);
  return Float32Array.from({ length: count }, () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform()));
}
