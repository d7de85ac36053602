/** Keeps the end of a process's output for the report of its death. */
export class OutputTail {
  readonly #characters: number;
  #text = '';

  constructor(characters: number) {
    this.#characters = characters;
  }

  add(text: string): void {
    this.#text = (this.#text + text).slice(-this.#characters);
  }

  toString(): string {
    return this.#text;
  }
}
