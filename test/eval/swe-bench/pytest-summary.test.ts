import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { PytestSummary } from '../../../backend/eval/swe-bench/pytest-summary.ts';
import { makeScratch } from '../../verify/setup.ts';

const run = promisify(execFile);
const hasPytest = await run('python3', ['-m', 'pytest', '--version']).then(() => true, () => false);

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
    const summary = new PytestSummary(log.stdout);
    const of = (name: string): string | undefined => summary.of(`tests/test_all.py::${name}`);
    expect(['test_right', 'test_wrong', 'test_expected', 'test_error', 'TestOf::test_method', 'test_text[a b]', 'test_text[a', 'test_text[c]'].map(of))
      .toEqual(['passed', 'failed', 'passed', 'failed', 'passed', 'failed', 'failed', 'passed']);
    // Skipped tests have no names in it.
    expect([of('test_skipped'), of('test_other')]).toEqual([undefined, undefined]);
    expect(summary.hasFailure).toBe(true);
  }, 60_000);

  it('knows names that were cut off, if all tests that they may mean ended alike', () => {
    const summary = new PytestSummary('PASSED t.py::a[x y]\nPASSED t.py::a[x z]\nPASSED t.py::b[log(u v)]\nFAILED t.py::b[log(w) - not equal\nPASSED t.py::b\n');
    expect([summary.of('t.py::a[x'), summary.of('t.py::b[log'), summary.of('t.py::b')]).toEqual(['passed', undefined, 'passed']);
  });

  it('knows names without the folders of a path', () => {
    const summary = new PytestSummary('PASSED t.py::a[/home/ada/data/x.dcm]\nFAILED t.py::b[//host/x] - no\n');
    expect([summary.of('t.py::a[/x.dcm]'), summary.of('t.py::b[//host/x]')]).toEqual(['passed', 'failed']);
  });

  it('reads what old versions say of each test', () => {
    expect(new PytestSummary('t.py::a PASSED\nt.py::b FAILED\n').of('t.py::b')).toBe('failed');
  });

  it('is read in little time, whatever the log is', () => {
    // Hours, if the time grew with the square of a line.
    const many = 400_000;
    const hostile = [`${'a::'.repeat(many)}${' '.repeat(many)}`, `PASSED ${' - '.repeat(many)}\u2028`, `PASSED t.py::a${'[/'.repeat(many)}*]`, `${'a::b PASSED '.repeat(many)}.`];
    expect(new PytestSummary(`${hostile.join('\n')}\nPASSED t.py::a[x - y] - no\n`).of('t.py::a[x')).toBe('passed');
  }, 60_000);

  it('is empty where no test ran', () => {
    expect(new PytestSummary('ERROR\nPASSED\nSKIPPED [3] t.py:4: no need\nbash: pytest: command not found').isEmpty).toBe(true);
  });
});
