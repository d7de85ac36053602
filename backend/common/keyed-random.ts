import { createHash } from 'node:crypto';

/**
 * Stateless random numbers: a draw depends only on the keys and on its name. Equal calls give equal results, and adding a draw does not
 * change the others.
 */
export class KeyedRandom {
  readonly #key: string;

  constructor(...keys: readonly unknown[]) {
    this.#key = createHash('sha256').update(JSON.stringify(keys)).digest('base64');
  }

  /** Uniform in [0, 1). */
  unit(draw: string): number {
    return createHash('sha256').update(this.#key).update(draw).digest().readUIntBE(0, 6) / 2 ** 48;
  }

  chance(draw: string, probability: number): boolean {
    return this.unit(draw) < probability;
  }

  /** One of the items, all equally likely. */
  pick<T>(draw: string, items: readonly [T, ...T[]]): T;
  pick<T>(draw: string, items: readonly T[]): T | undefined;
  pick<T>(draw: string, items: readonly T[]): T | undefined {
    return items[Math.floor(this.unit(draw) * items.length)];
  }

  /** The items in random order. */
  shuffled<T>(draw: string, items: readonly T[]): T[] {
    return items
      .map((item, index) => ({ item, place: this.unit(`${draw}:${index}`) }))
      .sort((a, b) => a.place - b.place)
      .map(({ item }) => item);
  }
}
