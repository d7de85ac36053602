import { createHash } from 'node:crypto';

/*
 * Every draw of a training depends only on its seed and on its purpose, never on earlier draws. A training that is resumed therefore draws
 * the same as without the interruption.
 */

/** An integer from 0 to 2^48 − 1 for a purpose. */
export function draw(seed: number, ...purpose: readonly (string | number)[]): number {
  const digest = createHash('sha256').update(JSON.stringify([seed, ...purpose])).digest();
  return digest.readUIntBE(0, 6);
}

/** The list in random order (Fisher–Yates shuffle). */
export function shuffled<T>(list: readonly T[], seed: number, ...purpose: readonly (string | number)[]): T[] {
  const result = [...list];
  for (let index = result.length - 1; index > 0; index -= 1) {
    const other = draw(seed, ...purpose, index) % (index + 1);
    [result[index], result[other]] = [result[other] as T, result[index] as T];
  }
  return result;
}

/** The tasks of a step. Every task comes once before any comes again; each pass has its own order. */
export function tasksOfStep<T>(tasks: readonly T[], { seed, step, count }: { readonly seed: number; readonly step: number; readonly count: number }): T[] {
  return Array.from({ length: count }, (_, place) => {
    const at = step * count + place;
    const round = Math.floor(at / tasks.length);
    return shuffled(tasks, seed, 'tasks', round)[at % tasks.length] as T;
  });
}
