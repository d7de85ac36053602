import { linesOf, type LoggedOutcome, TestLog } from './test-log.ts';

const ENDINGS: readonly (readonly [string, LoggedOutcome])[] = [[' E', 'failed'], [' F', 'failed'], [' ok', 'passed']];

/** What SymPy's own runner says of its tests, `test_sin ok`, and above the report of each that failed: `___ sympy/tests/test_a.py:test_sin ___`. */
export function sympyLog(log: string): TestLog {
  const outcomes = new Map<string, LoggedOutcome>();
  const lines = linesOf(log);
  for (const line of lines) {
    const [first, last] = [line.indexOf(' '), line.lastIndexOf(' ')];
    const at = line.lastIndexOf('.py:', last - '.py:'.length);
    if (first >= 0 && first < at) outcomes.set(line.slice(first + 1, last), 'failed');
  }
  for (const line of lines.map((one) => one.trim())) {
    if (!line.startsWith('test_')) continue;
    const [, outcome] = ENDINGS.find(([ending]) => line.endsWith(ending)) ?? [];
    if (outcome) outcomes.set(line.split(/\s/, 1)[0] as string, outcome);
  }
  return new TestLog(outcomes);
}
