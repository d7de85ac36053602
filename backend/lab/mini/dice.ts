import { seededUniforms } from '../../lm/checkpoint/seeded-uniforms.ts';
import { draw } from '../../train/statistics/draws.ts';

/** Random draws determined by a seed and a purpose. */
export class Dice {
  readonly #uniform: () => number;

  constructor(seed: number, ...purpose: readonly (string | number)[]) {
    this.#uniform = seededUniforms(draw(seed, ...purpose));
  }

  chance(share: number): boolean {
    return this.#uniform() < share;
  }

  /** A whole number from 0 to `count` − 1. */
  below(count: number): number {
    return Math.floor(this.#uniform() * count);
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  /** A random index with probabilities proportional to the weights. */
  weighted(weights: readonly number[]): number {
    let rest = this.#uniform() * weights.reduce((a, b) => a + b, 0);
    for (const [index, weight] of weights.entries()) {
      rest -= weight;
      if (rest < 0) return index;
    }
    return weights.length - 1;
  }

  /** Some of a list, without repetition, in any order. */
  some<T>(list: readonly T[], count: number): T[] {
    const rest = [...list];
    return Array.from({ length: Math.min(count, rest.length) }, () => rest.splice(this.below(rest.length), 1)[0] as T);
  }

  /** Replaces each `{name}` by a random word of that name, recursively. */
  fill(text: string, words: Readonly<Record<string, readonly string[]>>): string {
    let filled = text;
    for (let depth = 0; depth < 4 && filled.includes('{'); depth += 1) {
      filled = filled.replace(/\{(\w+)\}/g, (place, name: string) => (words[name] ? this.pick(words[name]) : place));
    }
    return filled;
  }
}
