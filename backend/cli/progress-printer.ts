import { printable, type Terminal } from './terminal.ts';

export interface Progress {
  /** The current task. */
  readonly label: string;
  /** From 0 to 1; absent if unknown. */
  readonly fraction?: number | undefined;
  /** Shown after the fraction. */
  readonly detail?: string | undefined;
}

/** Minimum time between two progress lines of the same task in a log. */
const LOG_EVERY_MS = 10_000;

/** Prints progress: on a terminal in one line that is rewritten, in a log as an occasional line. */
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

  /** Clears the progress line. */
  end(): void {
    this.#terminal.status?.('');
  }
}
