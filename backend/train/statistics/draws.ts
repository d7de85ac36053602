import { createHash } from 'node:crypto';

/*
 * All chance in a training follows from its seed and from what is drawn for, never from what was drawn before: a training that goes on
 * draws what it would have drawn without the interruption.
 */

/** A whole number below 2^48 for a purpose. */
export function draw(seed: number, ...purpose: readonly (string | number)[]): number {
  const digest = createHash('sha256').update(JSON.stringify([seed, ...purpose])).digest();
  return digest.readUIntBE(0, 6);
}

/** The list in an order of its own (Fisher and Yates). */
export function shuffled<T>(list: readonly T[], seed: number, ...purpose: readonly (string | number)[]): T[] {
  const result = [...list];
  for (let index = result.length - 1; index > 0; index -= 1) {
    const other = draw(seed, ...purpose, index) % (index + 1);
    [result[index], result[other]] = [result[other] as T, result[index] as T];
  }
  return result;
}

/** The tasks of a step: every one once before any comes again, each round in an order of its own. */
export function tasksOfStep<T>(tasks: readonly T[], { seed, step, count }: { readonly seed: number; readonly step: number; readonly count: number }): T[] {
  return Array.from({ length: count }, (_, place) => {
    const at = step * count + place;
    const round = Math.floor(at / tasks.length);
    return shuffled(tasks, seed, 'tasks', round)[at % tasks.length] as T;
  });
}
