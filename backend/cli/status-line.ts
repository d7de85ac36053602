/** The last line of a terminal, for what changes all the time: each text takes the place of the one before, and what is written its. */
export class StatusLine {
  readonly #stream: NodeJS.WriteStream;
  #isShown = false;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
  }

  /** Cut to the width of the terminal: a line that wraps could not be taken back. */
  show(text: string): void {
    this.clear();
    this.#stream.write(text.slice(0, (this.#stream.columns || 80) - 1));
    this.#isShown = text !== '';
  }

  /** To be called before anything else is written to the terminal. */
  clear(): void {
    if (this.#isShown) this.#stream.write('\r\u001b[2K');
    this.#isShown = false;
  }
}
