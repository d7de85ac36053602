import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { djangoLog } from '../../../backend/eval/swe-bench/logs/django-log.ts';
import { matplotlibLog, pytestLog, seabornLog } from '../../../backend/eval/swe-bench/logs/pytest-log.ts';
import { sympyLog } from '../../../backend/eval/swe-bench/logs/sympy-log.ts';
import type { TestLog } from '../../../backend/eval/swe-bench/logs/test-log.ts';
import { makeScratch } from '../../verify/setup.ts';

const run = promisify(execFile);
const hasPytest = await run('python3', ['-m', 'pytest', '--version']).then(() => true, () => false);

const outcomesOf = (log: TestLog, ...names: readonly string[]): readonly (string | undefined)[] => names.map((name) => log.of(name));

describe('the log of a runner of its own', () => {
  it('of Django has names or docstrings, and outcomes that what is printed parts from them', () => {
    const log = djangoLog([
      'test_a (t.A) ... ok', 'It adds.', 'test_b (t.A) ... skipped \'no database\'', 'test_c (t.A)', 'It divides. ... FAIL', 'test_d (t.A) ... Internal Server Error: /d/', 'ok',
      'test_e (t.A) ... Testing against Django installed in \'/testbed\'', 'test_f (t.A) ... ERROR', 'System check identified no issues (0 silenced).', 'ok', 'FAIL: test_c (t.A)',
    ].join('\n'));
    expect(outcomesOf(log, 'test_a (t.A)', 'test_b (t.A)', 'It divides.', 'test_d (t.A)', 'test_e (t.A)', 'test_c', 'test_g (t.A)')).toEqual(['passed', 'skipped', 'failed', 'passed', 'passed', 'failed', undefined]);
  });

  it('of SymPy has a word behind each name, and a heading above the report of what failed', () => {
    const log = sympyLog('sympy/core/tests/test_a.py[3]\ntest_a ok\ntest_b F\ntest_c E\ntest_d f\n____ sympy/core/tests/test_a.py:test_b ____\n');
    expect(outcomesOf(log, 'test_a', 'test_b', 'test_c', 'test_d', 'sympy/core/tests/test_a.py:test_b')).toEqual(['passed', 'failed', 'failed', undefined, 'failed']);
  });

  it('of seaborn and matplotlib is pytest\'s with other names', () => {
    expect(outcomesOf(seabornLog('t.py::a PASSED [ 9%]\nFAILED t.py::b - no\nSKIPPED t.py::c\n'), 't.py::a', 't.py::b', 't.py::c')).toEqual(['passed', 'failed', undefined]);
    expect(outcomesOf(matplotlibLog('PASSED t.py::a[MouseButton.RIGHT]\n'), 't.py::a[3]')).toEqual(['passed']);
  });

  it('is read in little time, whatever it is', () => {
    const many = 400_000;
    const hostile = [' ... '.repeat(many), ' .py:'.repeat(many), '_'.repeat(many), ' '.repeat(many), 'a ... Testing against Django installed in '.repeat(100_000), 'x ... Internal Server Error: /\n'.repeat(100_000)].join('\n');
    expect([djangoLog, sympyLog, seabornLog, matplotlibLog].map((read) => read(`${hostile}\ntest_a (t.A) ... ok`).of('none'))).toEqual([undefined, undefined, undefined, undefined]);
  }, 60_000);
});

describe('the summary of pytest', () => {
  it.skipIf(!hasPytest)(`is read as pytest writes it (${hasPytest ? 'tried' : 'not tried, python3 has no pytest'})`, async () => {
    await using scratch = await makeScratch();
    await mkdir(path.join(scratch.folder, 'tests'));
    await writeFile(path.join(scratch.folder, 'tests', 'test_all.py'), `import pytest


def test_right(): pass
def test_wrong(): assert "PASSED tests/test_all.py::test_wrong" == "a - b"
@pytest.mark.skip
def test_skipped(): pass
@pytest.mark.xfail
def test_expected(): assert False
@pytest.fixture
def broken(): raise ValueError
def test_error(broken): pass
@pytest.mark.parametrize("text", ["a b", "c"])
def test_text(text): assert text == "c"
class TestOf:
    def test_method(self): pass
`);
    const log = await run('python3', ['-m', 'pytest', '-rA', '--color=yes', '-p', 'no:cacheprovider', 'tests'], { cwd: scratch.folder }).catch((error: { stdout: string }) => error);
    const summary = pytestLog(log.stdout);
    const of = (name: string): string | undefined => summary.of(`tests/test_all.py::${name}`);
    expect(['test_right', 'test_wrong', 'test_expected', 'test_error', 'TestOf::test_method', 'test_text[a b]', 'test_text[a', 'test_text[c]'].map(of))
      .toEqual(['passed', 'failed', 'passed', 'failed', 'passed', 'failed', 'failed', 'passed']);
    // Skipped tests have no names in it.
    expect([of('test_skipped'), of('test_other')]).toEqual([undefined, undefined]);
    expect(summary.hasFailure).toBe(true);
  }, 60_000);

  it('knows names that were cut off, if all tests that they may mean ended alike', () => {
    const summary = pytestLog('PASSED t.py::a[x y]\nPASSED t.py::a[x z]\nPASSED t.py::b[log(u v)]\nFAILED t.py::b[log(w) - not equal\nPASSED t.py::b\n');
    expect([summary.of('t.py::a[x'), summary.of('t.py::b[log'), summary.of('t.py::b')]).toEqual(['passed', undefined, 'passed']);
  });

  it('knows names without the folders of a path', () => {
    const summary = pytestLog('PASSED t.py::a[/home/ada/data/x.dcm]\nFAILED t.py::b[//host/x] - no\n');
    expect([summary.of('t.py::a[/x.dcm]'), summary.of('t.py::b[//host/x]')]).toEqual(['passed', 'failed']);
  });

  it('reads what old versions say of each test', () => {
    expect(pytestLog('t.py::a PASSED\nt.py::b FAILED\n').of('t.py::b')).toBe('failed');
  });

  it('is read in little time, whatever the log is', () => {
    // Hours, if the time grew with the square of a line.
    const many = 400_000;
    const hostile = [`${'a::'.repeat(many)}${' '.repeat(many)}`, `PASSED ${' - '.repeat(many)}\u2028`, `PASSED t.py::a${'[/'.repeat(many)}*]`, `${'a::b PASSED '.repeat(many)}.`];
    expect(pytestLog(`${hostile.join('\n')}\nPASSED t.py::a[x - y] - no\n`).of('t.py::a[x')).toBe('passed');
  }, 60_000);

  it('is empty where no test ran', () => {
    expect(pytestLog('ERROR\nPASSED\nSKIPPED [3] t.py:4: no need\nbash: pytest: command not found').isEmpty).toBe(true);
  });
});

it('finds thousands of names that were cut off in a log of very many tests', { timeout: 20_000 }, () => {
  const log = pytestLog(Array.from({ length: 100_000 }, (_, index) => `PASSED t.py::a[${index} x]`).join('\n'));
  const names = Array.from({ length: 3_000 }, (_, index) => `t.py::a[${50_000 + index}`);
  expect(new Set(outcomesOf(log, ...names))).toEqual(new Set(['passed']));
  expect(outcomesOf(log, 't.py::b[1', 't.py::a[100000')).toEqual([undefined, undefined]);
});
