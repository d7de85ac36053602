/** Keeps the most recently used of things that are costly to make, by key. */
export class RecentlyUsed<T> {
  readonly #capacity: number;
  readonly #made = new Map<string, T>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get(key: string): T | undefined {
    const found = this.#made.get(key);
    if (found !== undefined) this.#put(key, found);
    return found;
  }

  set(key: string, value: T): void {
    this.#put(key, value);
    const [oldest] = this.#made.keys();
    if (this.#made.size > this.#capacity && oldest !== undefined) this.#made.delete(oldest);
  }

  /** A map keeps the order in which keys were added. */
  #put(key: string, value: T): void {
    this.#made.delete(key);
    this.#made.set(key, value);
  }
}
