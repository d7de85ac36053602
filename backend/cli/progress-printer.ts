import { printable, type Terminal } from './terminal.ts';

export interface Progress {
  /** What is being done. */
  readonly label: string;
  /** From 0 to 1; absent where nobody can say. */
  readonly fraction?: number | undefined;
  /** Shown behind the fraction. */
  readonly detail?: string | undefined;
}

/** Where no line can be rewritten, a log should not fill with them. */
const LOG_EVERY_MS = 10_000;

/** Tells how far something is: on a terminal in one line that changes, in a log in a line now and then. */
export class ProgressPrinter {
  readonly #terminal: Terminal;
  readonly #now: () => number;
  #loggedLabel: string | undefined;
  #loggedAtMs = 0;

  constructor(terminal: Terminal, now: () => number = () => performance.now()) {
    this.#terminal = terminal;
    this.#now = now;
  }

  tell({ label, fraction, detail }: Progress): void {
    const share = fraction === undefined ? undefined : `${Math.floor(fraction * 100)} %`;
    const known = [share, detail].filter((text) => text !== undefined);
    const line = printable(known.length === 0 ? `${label} …` : `${label}: ${known.join(', ')}`);
    if (this.#terminal.status) return this.#terminal.status(line);
    const nowMs = this.#now();
    if (label === this.#loggedLabel && nowMs - this.#loggedAtMs < LOG_EVERY_MS) return;
    this.#loggedLabel = label;
    this.#loggedAtMs = nowMs;
    this.#terminal.say(line);
  }

  /** Takes the line away. */
  end(): void {
    this.#terminal.status?.('');
  }
}
