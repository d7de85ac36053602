import { execFile, execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { KeyedRandom } from '../../../backend/common/keyed-random.ts';
import { gradeOfTests } from '../../../backend/eval/swe-bench/grader.ts';
import type { LogReader } from '../../../backend/eval/swe-bench/logs/log-readers.ts';

/** PYTHON names an interpreter that has swebench, 5 or later. */
const python = process.env['PYTHON'] ?? 'python3';
const hasSweBench = await promisify(execFile)(python, ['-c', 'import swebench.harness.grading']).then(() => true, () => false);
const script = fileURLToPath(new URL('harness_grades.py', import.meta.url));

const PARSERS = ['parse_log_pytest', 'parse_log_pytest_v2', 'parse_log_pytest_options'];
const NAMED = { fail: ['t.py::a', 't.py::b[x'], pass: ['t.py::c', 't.py::d'] };
const ALL = 'PASSED t.py::a\nPASSED t.py::b[x y]\nPASSED t.py::c\nPASSED t.py::d\n';
const LOGS: readonly { readonly name: string; readonly log: string; readonly exitCode?: number }[] = [
  { name: 'all pass', log: ALL },
  { name: 'one that should pass fails', log: ALL.replace('PASSED t.py::a', 'FAILED t.py::a - assert 1 - 1 == 1'), exitCode: 1 },
  { name: 'one that passed before fails', log: ALL.replace('PASSED t.py::d', 'FAILED t.py::d - no'), exitCode: 1 },
  { name: 'one that should pass is skipped', log: ALL.replace('PASSED t.py::a', 'SKIPPED t.py::a') },
  { name: 'one that passed before is skipped', log: ALL.replace('PASSED t.py::d', 'SKIPPED t.py::d') },
  { name: 'one that should pass fails as it is expected to', log: ALL.replace('PASSED t.py::a', 'XFAIL t.py::a') },
  { name: 'one has an error', log: ALL.replace('PASSED t.py::c', 'ERROR t.py::c'), exitCode: 1 },
  { name: 'one is missing', log: ALL.replace('PASSED t.py::c\n', '') },
  { name: 'another one fails', log: `${ALL}FAILED t.py::e - no\n`, exitCode: 1 },
  { name: 'all pass, they say, and they end with an error', log: ALL, exitCode: 1 },
  { name: 'none ran', log: 'bash: pytest: command not found\n', exitCode: 127 },
  { name: 'skipped ones are counted', log: `${ALL}SKIPPED [2] t.py:4: not now\n` },
  { name: 'a name that was cut off means two, which end differently', log: `FAILED t.py::b[x z] - no\n${ALL}`, exitCode: 1 },
];

it.skipIf(!hasSweBench)(`SWE-bench's own harness says the same of its logs (${hasSweBench ? 'tried' : `not tried, ${python} has no swebench`})`, () => {
  const cases = PARSERS.flatMap((parser) => LOGS.map((one) => ({ ...one, parser })));
  const rows = cases.map(({ log, exitCode = 0, parser }, index) => JSON.stringify({
    instance_id: `a__b-${index}`, repo: 'a/b', version: '1', image: 'i', eval_script: 'x', log_parser: parser, eval_type: 'pass_and_fail', FAIL_TO_PASS: NAMED.fail, PASS_TO_PASS: NAMED.pass,
    log: `+ : '>>>>> Start Test Output'\n${log}+ : '>>>>> End Test Output'\n>>>>> Test Exit Code: ${exitCode}\n`,
  }));
  const said = execFileSync(python, [script], { input: rows.join('\n'), encoding: 'utf8' }).trim().split('\n').map((line) => JSON.parse(line) as boolean);
  const ours = cases.map(({ log, exitCode = 0 }) => gradeOfTests({ form: 'SWE-bench', failToPass: NAMED.fail, passToPass: NAMED.pass }, { log, exitCode, exceeded: undefined }).verified);
  const named = (values: readonly boolean[]): string[] => cases.map(({ name, parser }, index) => `${parser}: ${name}: ${values[index] ? 'right' : 'not right'}`);
  expect(said).toContain(true);
  expect(said).toContain(false);
  expect(named(ours)).toEqual(named(said));
}, 120_000);

/** What logs of other runners are made of, with names that their tests may have. */
const RUNNERS: Readonly<Record<Exclude<LogReader, 'pytest'>, { readonly names: readonly string[]; readonly lines: readonly string[] }>> = {
  django: {
    names: ['test_a (tests.TestA)', 'test_b (tests.TestB)', 'It says what it does.', 'test_a', '--version is equivalent to version', 'test_no_migrations (tests.TestC)', 'odd ... name'],
    lines: [
      'test_a (tests.TestA) ... ok', 'test_b (tests.TestB) ... ok', 'test_b (tests.TestB) ... FAIL', 'test_a (tests.TestA) ... ERROR', 'It says what it does. ... ok', 'It says what it does. ... skipped \'no\'',
      'FAIL: test_a (tests.TestA)', 'ERROR: It says', 'ok', 'okay', '  ok', 'test_b (tests.TestB) ... Internal Server Error: /a/', 'test_b (tests.TestB) ... Internal Server Error: /',
      'test_a (tests.TestA) ... System check identified no issues (0 silenced)', 'test_a (tests.TestA) ... System check identified no issues (0 silenced).', 'System check identified no issues (1 silenced).',
      'test_a (tests.TestA) ... Testing against Django installed in \'/testbed\' with up to 4 processes', '--version is equivalent to version ...', 'odd ... name ...  OK', 'test_b (tests.TestB) ... OK', '',
      'Applying sites.0002_alter_domain_unique...test_no_migrations (tests.TestC) ... ok', 'Ran 3 tests in 0.1s',
    ],
  },
  sympy: {
    names: ['test_sin', 'test_cos', 'sympy/core/tests/test_a.py:test_sin', 'test_tan'],
    lines: ['test_sin ok', 'test_cos ok', 'test_cos F', 'test_tan E', 'test_tan f', 'test_tan s', ' test_sin ok  ', '___ sympy/core/tests/test_a.py:test_sin ___', '  File "sympy/core/a.py", line 1', 'a.py: b', ' a.py:b ', 'tests finished: 2 passed'],
  },
  seaborn: {
    names: ['t.py::a', 't.py::b[x]', 't.py::c'],
    lines: ['t.py::a PASSED [ 10%]', 't.py::b[x] PASSED [ 20%]', 't.py::c PASSED', 'PASSED t.py::c', 'FAILED t.py::a - no', 'FAILED', 'ERROR t.py::c', 'SKIPPED t.py::c', 't.py::b[x] FAILED [ 30%]', 'a PASSED PASSED b', 'PASSED t.py::c PASSED b'],
  },
  matplotlib: {
    names: ['t.py::a[1]', 't.py::b[3-x]', 't.py::c'],
    lines: ['PASSED t.py::a[MouseButton.LEFT]', 'PASSED t.py::b[MouseButton.RIGHT-x]', 'FAILED t.py::a[MouseButton.LEFT] - assert 1 - 1', 'SKIPPED t.py::c', 'PASSED t.py::c', 'ERROR t.py::b[3-x]', 'SKIPPED [2] t.py:3: no', 'XFAIL t.py::c', 'MouseButton.LEFT'],
  },
};

it.skipIf(!hasSweBench)(`SWE-bench's own harness says the same of drawn logs of other runners (${hasSweBench ? 'tried' : `not tried, ${python} has no swebench`})`, () => {
  const cases = Object.entries(RUNNERS).flatMap(([runner, { names, lines }]) => Array.from({ length: 250 }, (_, index) => {
    const random = new KeyedRandom('log', runner, index);
    const log = Array.from({ length: 2 + Math.floor(random.unit('length') * 12) }, (_, line) => `${random.pick(`line ${line}`, lines)}\n`).join('');
    const [failToPass, passToPass] = ['fail', 'pass'].map((list) => [random.pick(list, names) as string]) as [string[], string[]];
    return { runner: runner as LogReader, log, exitCode: random.chance('error', 0.3) ? 1 : 0, failToPass, passToPass: random.chance('alone', 0.5) ? [] : passToPass };
  }));
  const rows = cases.map(({ runner, log, exitCode, failToPass, passToPass }, index) => JSON.stringify({
    instance_id: `a__b-${index}`, repo: 'a/b', version: '1', image: 'i', eval_script: 'x', log_parser: `parse_log_${runner}`, eval_type: 'pass_and_fail', FAIL_TO_PASS: failToPass, PASS_TO_PASS: passToPass,
    log: `+ : '>>>>> Start Test Output'\n${log}+ : '>>>>> End Test Output'\n>>>>> Test Exit Code: ${exitCode}\n`,
  }));
  const said = execFileSync(python, [script], { input: rows.join('\n'), encoding: 'utf8' }).trim().split('\n').map((line) => JSON.parse(line) as boolean);
  const ours = cases.map(({ runner, log, exitCode, ...named }) => gradeOfTests({ form: 'SWE-bench', log: runner, ...named }, { log, exitCode, exceeded: undefined }).verified);
  for (const runner of Object.keys(RUNNERS)) expect(new Set(said.filter((_, index) => cases[index]?.runner === runner)).size, runner).toBe(2);
  expect(cases.filter((_, index) => ours[index] !== said[index])).toEqual([]);
}, 120_000);

describe('rows of SWE-bench-Live', () => {
  const right = (log: string, exitCode = 0): boolean => gradeOfTests({ form: 'SWE-bench-Live', failToPass: NAMED.fail, passToPass: NAMED.pass }, { log, exitCode, exceeded: undefined }).verified;

  it('are right if one test shows the change and none that is named fails', () => {
    expect(right(ALL)).toBe(true);
    expect(right('PASSED t.py::a\n')).toBe(true);
    expect(right(`${ALL}FAILED t.py::e - no\n`, 1)).toBe(true);
    expect(right(ALL.replace('PASSED t.py::d', 'FAILED t.py::d - no'), 1)).toBe(false);
    expect(right('PASSED t.py::c\nPASSED t.py::d\n')).toBe(false);
    expect(right('')).toBe(false);
  });
});
