import { linesOf, type LoggedOutcome, TestLog } from './test-log.ts';

const OUTCOMES: Readonly<Record<string, LoggedOutcome>> = { PASSED: 'passed', XFAIL: 'passed', FAILED: 'failed', ERROR: 'failed', SKIPPED: 'skipped' };
const WORDS = Object.keys(OUTCOMES);
/** Skipped tests are counted by their place, and not named. */
const COUNT = /^\[\d+\]\s/;
const COLOURS = /\u001B\[[\d;]*m/g;

/** What pytest says of its tests: by the whole name, by what stands before its first space, and with the folders of a path that is a parameter left out. */
export function pytestLog(log: string): TestLog {
  const [whole, begin, short] = [new Map<string, LoggedOutcome>(), new Map<string, LoggedOutcome>(), new Map<string, LoggedOutcome>()];
  for (const line of linesOf(log.replaceAll(COLOURS, ''))) {
    const [name, word] = ofSummary(line) ?? whileRunning(line) ?? [];
    const outcome = OUTCOMES[word ?? ''];
    if (name === undefined || outcome === undefined || COUNT.test(name)) continue;
    const first = name.split(/\s/)[0] ?? name;
    whole.set(name, outcome);
    begin.set(first, outcome);
    short.set(withoutFolders(first), outcome);
  }
  return new TestLog(whole, begin, short);
}

/** Matplotlib's parameters have been printed as names of a mouse's buttons, and are published as their numbers. */
export const matplotlibLog = (log: string): TestLog => pytestLog(log.replaceAll('MouseButton.LEFT', '1').replaceAll('MouseButton.RIGHT', '3'));

/** Of seaborn's tests, those that are skipped or end with an error are not read: its names are published so. */
export function seabornLog(log: string): TestLog {
  const outcomes = new Map<string, LoggedOutcome>();
  for (const line of linesOf(log)) {
    const [first, second] = line.trim().split(/\s+/, 2);
    if (first === undefined || second === undefined) continue;
    if (line.startsWith('FAILED')) outcomes.set(second, 'failed');
    else if (line.includes(' PASSED ')) {
      if (second === 'PASSED') outcomes.set(first, 'passed');
    } else if (line.startsWith('PASSED')) outcomes.set(second, 'passed');
  }
  return new TestLog(outcomes);
}

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
