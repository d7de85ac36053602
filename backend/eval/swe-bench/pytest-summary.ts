export type SummaryOutcome = 'passed' | 'failed' | 'skipped';

const OUTCOMES: Readonly<Record<string, SummaryOutcome>> = { PASSED: 'passed', XFAIL: 'passed', FAILED: 'failed', ERROR: 'failed', SKIPPED: 'skipped' };
const WORD = Object.keys(OUTCOMES).join('|');
/** The short summary that `pytest -rA` ends with. */
const SUMMARY = new RegExp(`^(${WORD})\\s+(.+?)(?: - .*)?$`);
/** What old versions say of each test while they run. */
const VERBOSE = new RegExp(`^(\\S+::.+?)\\s+(${WORD})$`);
/** Skipped tests are counted by their place, and not named. */
const COUNT = /^\[\d+\]\s/;
const COLOURS = /\u001B\[[\d;]*m/g;

/** What pytest says of its tests, by the names that SWE-bench has for them. */
export class PytestSummary {
  /** By the whole name, by what stands before its first space, and with the folders of a path that is a parameter left out: names are published in all three forms. */
  readonly #outcomes = [new Map<string, SummaryOutcome>(), new Map<string, SummaryOutcome>(), new Map<string, SummaryOutcome>()] as const;

  constructor(log: string) {
    const [whole, begin, short] = this.#outcomes;
    for (const line of log.replaceAll(COLOURS, '').split(/\r?\n/)) {
      const summary = SUMMARY.exec(line);
      const verbose = summary ? undefined : VERBOSE.exec(line);
      const [name, word] = summary ? [summary[2], summary[1]] : [verbose?.[1], verbose?.[2]];
      const outcome = OUTCOMES[word ?? ''];
      if (name === undefined || outcome === undefined || COUNT.test(name)) continue;
      const first = name.split(/\s/)[0] ?? name;
      whole.set(name, outcome);
      begin.set(first, outcome);
      short.set(first.replace(/\[\/(?!\/)[^*]*\/([^/*]*)\]$/, '[/$1]'), outcome);
    }
  }

  get isEmpty(): boolean {
    return this.#outcomes[0].size === 0;
  }

  get hasFailure(): boolean {
    return [...this.#outcomes[0].values()].includes('failed');
  }

  /** How a test ended; undefined if nothing is said of it, or if its name was cut off and those that it may mean ended differently. */
  of(name: string): SummaryOutcome | undefined {
    if (!isCutOff(name)) return this.#outcomes.map((outcomes) => outcomes.get(name)).find((outcome) => outcome !== undefined);
    const begun = [...this.#outcomes[0]].filter(([whole]) => whole.startsWith(name)).map(([, outcome]) => outcome);
    return new Set(begun.map((outcome) => outcome === 'passed')).size === 1 ? begun[0] : undefined;
  }
}

/** Published names end at the first space of a parameter. */
const isCutOff = (name: string): boolean => name.split('[').length > name.split(']').length;
