/** A least-recently-used (LRU) cache by key. */
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

  /** Moves the key to the end, because a map iterates in the order of insertion. */
  #put(key: string, value: T): void {
    this.#made.delete(key);
    this.#made.set(key, value);
  }
}
