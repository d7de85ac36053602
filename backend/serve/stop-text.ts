/** Ends a streamed text before the first of some sequences. What could be the beginning of one is held back. */
export class StopText {
  readonly #stops: readonly string[];
  #text = '';
  #held = '';
  #stoppedAt: string | undefined;

  /** @param stops none of them empty */
  constructor(stops: readonly string[]) {
    this.#stops = stops;
  }

  /** The text that may be said by now. */
  get text(): string {
    return this.#text;
  }

  /** The sequence that ended the text. */
  get stoppedAt(): string | undefined {
    return this.#stoppedAt;
  }

  /** @returns what may be said now */
  take(piece: string): string {
    if (this.#stoppedAt !== undefined) return '';
    const all = this.#held + piece;
    const [first] = this.#stops.flatMap((stop) => (all.includes(stop) ? [{ stop, at: all.indexOf(stop) }] : [])).sort((a, b) => a.at - b.at);
    if (first) {
      this.#stoppedAt = first.stop;
      this.#held = '';
      return this.#say(all.slice(0, first.at));
    }
    const end = all.length - this.#begun(all);
    this.#held = all.slice(end);
    return this.#say(all.slice(0, end));
  }

  /** @returns what was held back when the text has ended */
  rest(): string {
    const held = this.#held;
    this.#held = '';
    return this.#say(held);
  }

  /** The number of characters at the end that a sequence begins with. */
  #begun(text: string): number {
    const longest = Math.max(0, ...this.#stops.map(({ length }) => length - 1));
    for (let count = Math.min(longest, text.length); count > 0; count -= 1) {
      const end = text.slice(-count);
      if (this.#stops.some((stop) => stop.startsWith(end))) return count;
    }
    return 0;
  }

  #say(text: string): string {
    this.#text += text;
    return text;
  }
}
