export type LoggedOutcome = 'passed' | 'failed' | 'skipped';

/**
 * What a log says of tests, by the names that SWE-bench has for them. Names are published in several forms, and each has a map of its own: the first
 * that has a name tells.
 */
export class TestLog {
  readonly #whole: ReadonlyMap<string, LoggedOutcome>;
  readonly #others: readonly ReadonlyMap<string, LoggedOutcome>[];
  #byName: readonly Named[] | undefined;

  /** @param whole by the names as the log has them; a name that was cut off is looked for among these alone */
  constructor(whole: ReadonlyMap<string, LoggedOutcome>, ...others: readonly ReadonlyMap<string, LoggedOutcome>[]) {
    this.#whole = whole;
    this.#others = others;
  }

  get isEmpty(): boolean {
    return this.#whole.size === 0;
  }

  get hasFailure(): boolean {
    return [...this.#whole.values()].includes('failed');
  }

  /** How a test ended; undefined if nothing is said of it, or if its name was cut off and those that it may mean ended differently. */
  of(name: string): LoggedOutcome | undefined {
    const told = this.#whole.get(name);
    if (told !== undefined || !isCutOff(name)) return told ?? this.#others.map((outcomes) => outcomes.get(name)).find((outcome) => outcome !== undefined);
    let first: Named | undefined;
    for (const one of this.#begunWith(name)) {
      if (first && (first.outcome === 'passed') !== (one.outcome === 'passed')) return undefined;
      if (!first || one.at < first.at) first = one;
    }
    return first?.outcome;
  }

  /** A row may have thousands of names that were cut off, and a log millions. */
  *#begunWith(name: string): Generator<Named> {
    const all = (this.#byName ??= [...this.#whole].map(([whole, outcome], at) => ({ whole, outcome, at })).sort((a, b) => (a.whole < b.whole ? -1 : 1)));
    let [low, high] = [0, all.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((all[middle] as Named).whole < name) low = middle + 1;
      else high = middle;
    }
    for (let one = all[low]; one?.whole.startsWith(name); one = all[(low += 1)]) yield one;
  }
}

interface Named {
  readonly whole: string;
  readonly outcome: LoggedOutcome;
  /** Its place in the log. */
  readonly at: number;
}

/** Published names end at the first space of a parameter. */
const isCutOff = (name: string): boolean => name.split('[').length > name.split(']').length;

/* A log may be long and is written by whoever wrote the change: a regular expression with several places to stop at would take hours for some lines. */

export const linesOf = (log: string): string[] => log.split(/\r?\n/);
