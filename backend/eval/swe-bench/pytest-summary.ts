export type SummaryOutcome = 'passed' | 'failed' | 'skipped';

const OUTCOMES: Readonly<Record<string, SummaryOutcome>> = { PASSED: 'passed', XFAIL: 'passed', FAILED: 'failed', ERROR: 'failed', SKIPPED: 'skipped' };
const WORDS = Object.keys(OUTCOMES);
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
      const [name, word] = ofSummary(line) ?? whileRunning(line) ?? [];
      const outcome = OUTCOMES[word ?? ''];
      if (name === undefined || outcome === undefined || COUNT.test(name)) continue;
      const first = name.split(/\s/)[0] ?? name;
      whole.set(name, outcome);
      begin.set(first, outcome);
      short.set(withoutFolders(first), outcome);
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

/* A log may be long and is written by whoever wrote the change: a regular expression with several places to stop at would take hours for some lines. */

/** A line of the short summary that `pytest -rA` ends with: `FAILED t.py::a - it differs`. */
function ofSummary(line: string): readonly [name: string, word: string] | undefined {
  const word = WORDS.find((one) => line.startsWith(one));
  const rest = line.slice(word?.length);
  const name = rest.trimStart();
  return word === undefined || name === '' || name === rest ? undefined : [name.split(' - ', 1)[0] as string, word];
}

/** What old versions say of each test while they run: `t.py::a PASSED`. */
function whileRunning(line: string): readonly [name: string, word: string] | undefined {
  const word = WORDS.find((one) => line.endsWith(one));
  const rest = line.slice(0, -(word?.length ?? 0));
  const name = rest.trimEnd();
  return word === undefined || name === rest || !/^\S+::./.test(name) ? undefined : [name, word];
}

/** `t.py::a[/x.dcm]` for `t.py::a[/home/ada/x.dcm]`. */
function withoutFolders(name: string): string {
  const slash = name.lastIndexOf('/');
  const parameter = /\[\/(?!\/)/g;
  // Names with a star are published as they are.
  parameter.lastIndex = name.lastIndexOf('*') + 1;
  const begins = parameter.exec(name)?.index ?? slash;
  return name.endsWith(']') && begins + 1 < slash ? `${name.slice(0, begins)}[/${name.slice(slash + 1)}` : name;
}

/** Published names end at the first space of a parameter. */
const isCutOff = (name: string): boolean => name.split('[').length > name.split(']').length;
