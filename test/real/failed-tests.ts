import { stripVTControlCharacters } from 'node:util';
import type { CommandRun } from './command-run.ts';

/** How a runner prints the name of a test that failed, and that it ran tests to their end. */
interface Printed {
  /** Its groups together name the test. */
  readonly failed: RegExp;
  readonly ended: RegExp;
}

const JEST = /^\s*Tests:?\s.*\d+ passed/m;
const TAP: Printed = { failed: /^\s*not ok \d+ -? ?(?!.*# (?:todo|skip)\b)(.+)$/gim, ended: /^# pass\s+\d+/m };

const PRINTED: Readonly<Record<string, Printed>> = {
  pytest: { failed: /^(?:FAILED|ERROR) ([^\s[]+(?:\[.*?\](?= - |$))?)/gm, ended: /^[=\s]*.*\b\d+ passed\b.* in [\d.]+s/m },
  unittest: { failed: /^(?:FAIL|ERROR): (.+)$/gm, ended: /^Ran \d+ tests? in /m },
  go: { failed: /^\s*--- FAIL: (\S+)/gm, ended: /^(?:ok|FAIL)\s+\S+\s+[\d.]+s/m },
  cargo: { failed: /^test (.+) \.\.\. FAILED$/gm, ended: /^test result: /m },
  maven: { failed: /^\[ERROR\]\s+(\S+)(?: --|\s+Time elapsed:).*<<< (?:FAILURE|ERROR)!/gm, ended: /Tests run: \d+/ },
  jest: { failed: /^\s*● (.+ › .+)$/gm, ended: JEST },
  vitest: { failed: /^\s*FAIL\s+(.+)$/gm, ended: JEST },
  mocha: { failed: /^\s+\d+\) (.+)$/gm, ended: /^\s*\d+ passing/m },
  ava: { failed: /^\s*[✘✖] \[fail\]: (.+?)(?: \([\d.]+m?s\))?$/gm, ended: /^\s*\d+ tests? (?:passed|failed)/m },
  'node-test': { failed: /^\s*✖ (.+?)(?: \([\d.]+m?s\))?$/gm, ended: /^ℹ pass \d+/m },
  tape: TAP,
  tap: TAP,
};

/**
 * The names of the tests that failed, as the runner's command prints them when a person runs it, each once. Undefined if it cannot be told:
 * the runner is unknown here, or nothing shows that it ran tests to their end.
 */
export function failedTests({ exitCode, said }: CommandRun, runner: string): ReadonlySet<string> | undefined {
  if (exitCode === 0) return new Set();
  const printed = PRINTED[runner];
  const text = stripVTControlCharacters(said);
  if (exitCode === null || !printed?.ended.test(text)) return undefined;
  return new Set([...text.matchAll(printed.failed)].map((match) => match.slice(1).join(' ').trim()));
}

/** Whether every member of `part` is one of `whole`. */
export const areAllIn = (part: ReadonlySet<string>, whole: ReadonlySet<string>): boolean => [...part].every((name) => whole.has(name));
