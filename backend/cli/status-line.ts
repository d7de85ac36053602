/** A line at the bottom of a terminal for changing text. Each text replaces the previous one; other output replaces the line. */
export class StatusLine {
  readonly #stream: NodeJS.WriteStream;
  #isShown = false;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
  }

  /** Shortens the text to the width of the terminal: a wrapped line could not be cleared. */
  show(text: string): void {
    this.clear();
    this.#stream.write(text.slice(0, (this.#stream.columns || 80) - 1));
    this.#isShown = text !== '';
  }

  /** Call this before writing anything else to the terminal. */
  clear(): void {
    if (this.#isShown) this.#stream.write('\r\u001b[2K');
    this.#isShown = false;
  }
}
