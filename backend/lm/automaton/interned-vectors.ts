/** Stores distinct vectors of one length and numbers them from 0 in the order of insertion. */
export class InternedVectors {
  readonly #length: number;
  readonly #vectors: Int32Array[] = [];
  /** The numbers of the vectors with each hash. */
  readonly #numbers = new Map<number, number[]>();

  constructor(length: number) {
    this.#length = length;
  }

  get size(): number {
    return this.#vectors.length;
  }

  at(number: number): Int32Array {
    return this.#vectors[number] as Int32Array;
  }

  /** The number of `vector`, which is stored and must not change afterwards. */
  intern(vector: Int32Array): number {
    let hash = 0x811c9dc5; // FNV-1a, over whole entries.
    for (let index = 0; index < this.#length; index += 1) hash = Math.imul(hash ^ (vector[index] as number), 0x01000193);
    const candidates = this.#numbers.get(hash) ?? [];
    for (const number of candidates) if (this.#equal(this.at(number), vector)) return number;
    const number = this.#vectors.push(vector) - 1;
    this.#numbers.set(hash, [...candidates, number]);
    return number;
  }

  #equal(left: Int32Array, right: Int32Array): boolean {
    for (let index = 0; index < this.#length; index += 1) if (left[index] !== right[index]) return false;
    return true;
  }
}
