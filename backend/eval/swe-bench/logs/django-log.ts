import { linesOf, type LoggedOutcome, TestLog } from './test-log.ts';

const DOTS = ' ... ';
const PASSED = [' ... ok', ' ... OK', ' ...  OK'];
const FAILED = [' ... FAIL', ' ... ERROR'];
/** Above the report of a test that did not pass: `FAIL: test_a (tests.TestA)`. */
const REPORTS = ['FAIL:', 'ERROR:'];
/** A test whose first line of output stands before its own name. */
const MIGRATION = 'Applying sites.0002_alter_domain_unique...test_no_migrations';
/** A test that prints its outcome apart from its name. */
const VERSION = '--version is equivalent to version';

/**
 * What Django's runner, which is unittest's with names, says of its tests: `test_a (tests.TestA) ... ok`, where the first line of a test's docstring
 * stands in place of the name if it has one. What a test prints comes between its name and its outcome: then `ok` begins a later line.
 */
export function djangoLog(log: string): TestLog {
  const outcomes = new Map<string, LoggedOutcome>();
  let last: string | undefined;
  const lines = linesOf(log);
  for (const untrimmed of lines) {
    const line = untrimmed.trim();
    if (line.includes(VERSION)) outcomes.set(VERSION, 'passed');
    if (line.includes(DOTS)) last = before(line, DOTS);
    const passed = PASSED.find((ending) => line.endsWith(ending));
    const skipped = line.indexOf(' ... skipped');
    const failed = FAILED.find((ending) => line.endsWith(ending));
    const [report, name] = line.split(/\s+/, 2);
    if (passed !== undefined) outcomes.set(named(line).slice(0, -passed.length), 'passed');
    if (skipped >= 0) outcomes.set(line.slice(0, skipped), 'skipped');
    if (failed !== undefined) outcomes.set(before(line, failed), 'failed');
    if (REPORTS.some((word) => line.startsWith(word)) && report !== undefined && name !== undefined) outcomes.set(name, 'failed');
    if (line.startsWith('ok') && last !== undefined) outcomes.set(last, 'passed');
  }
  for (const name of interrupted(lines)) outcomes.set(name, 'passed');
  return new TestLog(outcomes);
}

const before = (line: string, part: string): string => line.slice(0, line.indexOf(part));

const named = (line: string): string => (line.startsWith(MIGRATION) ? line.slice(line.indexOf('...') + '...'.length).trim() : line);

interface Printed {
  readonly begin: string;
  /** Whether the rest of the line, or a whole line below it, is the last that is printed. */
  readonly ends: (rest: string) => boolean;
  readonly isOneLine: boolean;
}

/** What is printed between a name and `ok` alone on its line, where lines of the runner or of other tests may come in between. */
const PRINTED: readonly Printed[] = [
  { begin: ' ... Testing against Django installed in ', ends: (rest) => rest.endsWith(' silenced).'), isOneLine: false },
  { begin: ' ... Internal Server Error: /', ends: (rest) => rest.endsWith('/'), isOneLine: true },
  { begin: ' ... System check identified no issues (0 silenced)', ends: (rest) => rest === '', isOneLine: true },
];

/** The names of tests that passed, and whose outcome is apart from them because of what was printed in between. */
function* interrupted(lines: readonly string[]): Generator<string> {
  for (const { begin, ends, isOneLine } of PRINTED) {
    let open: string | undefined;
    for (const [at, line] of lines.entries()) {
      const place = open === undefined ? line.indexOf(begin) : -1;
      if (place >= 0) open = line.slice(0, place);
      if (open !== undefined && lines[at + 1] === 'ok' && ends(place < 0 ? line : line.slice(place + begin.length))) {
        yield open;
        open = undefined;
      } else if (isOneLine) open = undefined;
    }
  }
}
