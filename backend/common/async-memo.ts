/** Keeps the results of asynchronous work by key. A failure is not kept: the next call tries again. */
export class AsyncMemo<Key, Value> {
  readonly #results = new Map<Key, Promise<Value>>();

  get(key: Key, make: () => Promise<Value>): Promise<Value> {
    const known = this.#results.get(key);
    if (known) return known;
    const made = make();
    this.#results.set(key, made);
    made.catch(() => this.#results.delete(key));
    return made;
  }
}
