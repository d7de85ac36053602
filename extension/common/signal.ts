/** An event emitter like VS Code's `EventEmitter`, for modules that also run without VS Code. */
export class Signal<T> {
  readonly #listeners = new Set<(value: T) => void>();

  /** @returns a function that ends the subscription */
  on(listener: (value: T) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  emit(value: T): void {
    for (const listener of [...this.#listeners]) listener(value);
  }
}
