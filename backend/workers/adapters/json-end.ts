/** Finds the end of a JSON object that comes in pieces, without reading any piece twice. */
export class JsonEnd {
  #depth = 0;
  #inString = false;
  #escaped = false;
  #closed = false;

  /** Whether an object began and ended. */
  get closed(): boolean {
    return this.#closed;
  }

  read(piece: string): void {
    for (const character of piece) {
      if (this.#escaped) this.#escaped = false;
      else if (this.#inString) {
        if (character === '\\') this.#escaped = true;
        else if (character === '"') this.#inString = false;
      } else if (character === '"') this.#inString = true;
      else if (character === '{' || character === '[') this.#depth += 1;
      else if (character === '}' || character === ']') {
        this.#depth -= 1;
        if (this.#depth === 0) this.#closed = true;
      }
    }
  }
}
