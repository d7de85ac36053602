import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { signedReport } from '../../../backend/verify/runners/signed-report.ts';
import { parsePytestLines } from '../../../backend/verify/runners/pytest.ts';
import { parseUnittestLines } from '../../../backend/verify/runners/unittest.ts';
import { ReportError } from '../../../backend/verify/runners/test-report.ts';
import { makeScratch, trySandbox } from '../setup.ts';
import { changes, judge, tryProgram, type Files } from './setup.ts';

const { available, note } = await trySandbox();
const python = tryProgram('python3', '-m', 'pytest', '--version');

const FIXED = 'def first(items):\n    return items[0] if items else None\n\n\ndef last(items):\n    return items[-1]\n';
const PACKAGE = FIXED.replace('items[-1]', 'items[len(items)]');

const PYTEST: Files = {
  'pyproject.toml': '[tool.pytest.ini_options]\naddopts = "-x"\n',
  'lists.py': PACKAGE,
  'tests/conftest.py': 'import pytest\n\n@pytest.fixture\ndef items():\n    return [1, 2, 3]\n',
  'tests/test_lists.py': `
import pytest
from lists import first, last

class TestEnds:
    def test_last(self, items):
        assert last(items) == 3

    @pytest.mark.parametrize('given', ['a::b', 'c d'])
    def test_first(self, given):
        assert first(given) == given[0]

@pytest.mark.xfail
def test_unknown():
    assert first([]) == 0

@pytest.mark.skip
def test_later():
    pass
`,
};

describe.skipIf(!available || !python.isHere)(`pytest (${note}, ${python.note})`, { timeout: 240_000 }, () => {
  it('verifies an honest fix, with parametrised tests, expected failures and all tests in spite of -x', async () => {
    await using scratch = await makeScratch();
    const verdict = await judge(scratch, PYTEST, { 'lists.py': FIXED }, 'python3 -m pytest');
    expect(verdict.reason).toBe('1 test that failed before passed, and 2 tests that passed still did.');
    expect(verdict.verified).toBe(true);
    expect(changes(verdict)).toEqual({
      'tests/test_lists.py > TestEnds > test_last': 'failed → passed',
      'tests/test_lists.py > TestEnds > test_first[a::b]': 'passed → passed',
      'tests/test_lists.py > TestEnds > test_first[c d]': 'passed → passed',
      'tests/test_lists.py > test_unknown': 'skipped → skipped',
      'tests/test_lists.py > test_later': 'skipped → skipped',
    });
  });

  it('does not wait for what is left running, and holds it against a change only if nothing was left running before', async () => {
    const waiting = 'import threading, time\nthreading.Thread(target=time.sleep, args=(3600,)).start()\n';
    const test = 'from lists import last\n\ndef test_last():\n    assert last([1, 2]) == 2\n';
    const files = { 'lists.py': `${waiting}def last(items):\n    return items[0]\n`, 'test_lists.py': test };
    await using scratch = await makeScratch();
    const ends = await judge(scratch, files, { 'lists.py': 'def last(items):\n    return items[-1]\n' }, 'python3 -m pytest');
    expect(ends).toMatchObject({ verified: true });
    await using other = await makeScratch();
    const waits = await judge(other, files, { 'lists.py': `${waiting}def last(items):\n    return items[-1]\n` }, 'python3 -m pytest');
    expect(waits).toMatchObject({ verified: true, notes: [expect.stringContaining('It did so before the change, too.')] });
    await using third = await makeScratch();
    const ended = { ...files, 'lists.py': 'def last(items):\n    return items[0]\n' };
    const begins = await judge(third, ended, { 'lists.py': `${waiting}def last(items):\n    return items[-1]\n` }, 'python3 -m pytest');
    expect(begins).toMatchObject({ verified: false, reason: 'Every test passed, but the command did not end by itself.' });
  });

  it('sees a module that cannot be loaded, and its tests once it can', async () => {
    await using scratch = await makeScratch();
    const files = {
      ...PYTEST,
      'lists.py': 'def first(items):\n    return items[0] if items else None\n',
      'tests/test_lists.py': 'from lists import last\n\nclass TestEnds:\n    def test_last(self, items):\n        assert last(items) == 3\n',
    };
    const verdict = await judge(scratch, files, { 'lists.py': FIXED }, 'python3 -m pytest -q');
    expect(verdict).toMatchObject({ verified: true });
    expect(changes(verdict)['tests/test_lists.py > TestEnds > test_last']).toBe('missing → passed');
  });

  it.each([
    ['ends the process', 'import os\nos._exit(0)\n'],
    ['ends the process in an orderly way', 'import sys\nsys.exit(0)\n'],
    ['skips the tests', 'import pytest\ndef first(items):\n    return 1\ndef last(items):\n    pytest.skip("later")\n'],
    ['expects the failure', 'import pytest\ndef first(items):\n    return 1\ndef last(items):\n    pytest.xfail("known")\n'],
    [
      'changes what pytest reports',
      `import _pytest.reports as reports
made = reports.TestReport.from_item_and_call.__func__
def passed(cls, item, call):
    report = made(cls, item, call)
    report.outcome = 'passed'
    return report
reports.TestReport.from_item_and_call = classmethod(passed)
${PACKAGE}`,
    ],
    ['sets its own exit code', `import atexit, os\natexit.register(lambda: os._exit(0))\n${PACKAGE}`],
  ])('does not verify a patch that %s', async (_, text) => {
    await using scratch = await makeScratch();
    expect(await judge(scratch, PYTEST, { 'lists.py': text }, 'python3 -m pytest')).toMatchObject({
      verified: false,
      outcome: 'failed',
    });
  });

  it('takes the environment in the workspace, and what is installed from the workspace out of the copy', async () => {
    await using scratch = await makeScratch();
    const base = await scratch.project({});
    const files = Object.fromEntries(
      Object.entries(PYTEST).map(([file, text]) => [file === 'lists.py' ? 'src/lists.py' : file, text]),
    );
    execFileSync('python3', ['-m', 'venv', '--without-pip', '--system-site-packages', path.join(base, '.venv')]);
    const packages = globSync(path.join(base, '.venv/lib/python3*/site-packages'))[0] ?? '';
    writeFileSync(path.join(packages, 'editable.pth'), `${path.join(base, 'src')}\n`);
    const verdict = await judge(scratch, files, { 'src/lists.py': FIXED }, 'uv run python -m pytest');
    expect(verdict.reason).toBe('1 test that failed before passed, and 2 tests that passed still did.');
  });

  it.each(['python3 -m pytest', 'python3 -m unittest discover -s tests'])('imports a project that is not installed from its src: %s', async (command) => {
    await using scratch = await makeScratch();
    const test = 'import unittest\nfrom lists import last\n\nclass TestLists(unittest.TestCase):\n    def test_last(self):\n        self.assertEqual(last([1, 3]), 3)\n';
    const verdict = await judge(scratch, { 'src/lists.py': PACKAGE, 'tests/test_lists.py': test }, { 'src/lists.py': FIXED }, command);
    expect(verdict.reason).toBe('1 test that failed before passed, and 0 tests that passed still did.');
  });

  it.each(['python3 -m pytest', 'python3 -m unittest discover -s tests'])('judges no change of a package whose tests import an installed copy of it: %s', async (command) => {
    await using scratch = await makeScratch();
    const base = await scratch.project({});
    execFileSync('python3', ['-m', 'venv', '--without-pip', '--system-site-packages', path.join(base, '.venv')]);
    const packages = globSync(path.join(base, '.venv/lib/python3*/site-packages'))[0] ?? '';
    writeFileSync(path.join(packages, 'lists.py'), FIXED);
    const test = 'import unittest\nfrom lists import last\n\nclass TestLists(unittest.TestCase):\n    def test_last(self):\n        self.assertEqual(last([1, 3]), 4)\n';
    const told = {
      outcome: 'infrastructure',
      reason: `The tests import lists from ${packages}, not from src/lists.py, so that they test no change of it. Install the project so that its sources are imported, for example with "pip install -e .".`,
    };
    const alone = await judge(scratch, { 'src/lists.py': PACKAGE, 'tests/test_lists.py': test }, { 'src/lists.py': FIXED }, command);
    expect(alone).toMatchObject(told);

    const beside = { 'src/lists.py': PACKAGE, 'other.py': 'two = 2\n', 'tests/test_lists.py': `import sys\nsys.path.append('.')\nimport other\n${test}` };
    const ofIt = await judge(scratch, beside, { 'src/lists.py': FIXED }, command);
    expect(ofIt).toMatchObject(told);
    expect((await judge(scratch, beside, { 'other.py': 'two = 3\n' }, command)).reason).toBe('Of 1 test that failed before, 1 still did not pass.');
  });

  it('does not mind what tests replace, for a while or for good', async () => {
    await using scratch = await makeScratch();
    const files = {
      ...PYTEST,
      'tests/conftest.py': `${PYTEST['tests/conftest.py']}
import time
from unittest import mock

time.sleep = lambda seconds: None

@pytest.fixture(scope='session', autouse=True)
def still():
    with mock.patch('time.perf_counter', return_value=1.0):
        yield
`,
      'tests/test_others.py': `
import builtins
import time
import unittest
from unittest import mock
from lists import first

unittest.TestCase.assertSame = unittest.TestCase.assertIs
time.thread_time = lambda: 0
SEEN = 0

def test_time(monkeypatch):
    global SEEN
    SEEN = 1
    monkeypatch.setattr(time, 'time', lambda: 7)
    assert first([time.time()]) == 7

@mock.patch.object(builtins, 'abs', return_value=3)
def test_abs(_):
    assert abs(-1) == 3

def test_files(request):
    (request.path.parent / 'written.txt').write_text('x')
    (request.path.parent / 'kept.txt').write_text('x')
`,
      'tests/kept.txt': 'as it was',
    };
    expect(await judge(scratch, files, { 'lists.py': FIXED }, 'python3 -m pytest')).toMatchObject({ verified: true });
  });

  it('takes a module of the project for one of Python where it has been there before', async () => {
    await using scratch = await makeScratch();
    const test = 'import fractions\n\ndef test_last(items):\n    assert fractions.last(items) == 3\n';
    const files = { ...PYTEST, 'fractions.py': PACKAGE, 'tests/test_lists.py': test };
    const verdict = await judge(scratch, files, { 'fractions.py': FIXED }, 'python3 -m pytest');
    expect(verdict).toMatchObject({ verified: true });
  });

  it('loads no plugin by the metadata of a package that lies in the copy', async () => {
    await using scratch = await makeScratch();
    const files = {
      ...PYTEST,
      'planted-1.0.dist-info/METADATA': 'Metadata-Version: 2.1\nName: planted\nVersion: 1.0\n',
      'planted-1.0.dist-info/entry_points.txt': '[pytest11]\nplanted = planted\n',
      'planted.py': 'raise RuntimeError("planted")\n',
    };
    expect(await judge(scratch, files, { 'lists.py': FIXED }, 'python3 -m pytest')).toMatchObject({ verified: true });
  });

  it('reads results through a script, with options and a path of the command', async () => {
    await using scratch = await makeScratch();
    const files = { ...PYTEST, 'package.json': '{"scripts":{"test":"PYTHONPATH=. PYTEST_ADDOPTS=-q pytest --no-header"}}' };
    expect(await judge(scratch, files, { 'lists.py': FIXED }, 'npm test')).toMatchObject({ verified: true });
  });
});

describe.skipIf(!available || !python.isHere)(`unittest (${note}, ${python.note})`, { timeout: 240_000 }, () => {
  const UNITTEST: Files = {
    'lists.py': PACKAGE,
    'tests/__init__.py': '',
    'tests/test_lists.py': `
import unittest
from lists import first, last

class Ends(unittest.TestCase):
    def test_last(self):
        for items in ([1], [1, 2]):
            with self.subTest(items=items):
                self.assertEqual(last(items), items[-1])

    def test_first(self):
        self.assertEqual(first([1]), 1)

    @unittest.skip('later')
    def test_later(self):
        pass

    @unittest.expectedFailure
    def test_known(self):
        self.assertEqual(first([]), 0)
`,
  };

  it('runs all tests in spite of -f, before the change, too', async () => {
    await using scratch = await makeScratch();
    const files = {
      'lists.py': PACKAGE,
      'test_lists.py': 'import unittest\nfrom lists import first, last\n\nclass Ends(unittest.TestCase):\n    def test_a_last(self):\n        self.assertEqual(last([1, 2]), 2)\n\n    def test_first(self):\n        self.assertEqual(first([1]), 1)\n',
    };
    const verdict = await judge(scratch, files, { 'lists.py': FIXED }, 'python3 -m unittest -f');
    expect(changes(verdict)).toEqual({ 'test_lists.py > Ends > test_a_last': 'failed → passed', 'test_lists.py > Ends > test_first': 'passed → passed' });
  });

  it('verifies an honest fix', async () => {
    await using scratch = await makeScratch();
    const verdict = await judge(scratch, UNITTEST, { 'lists.py': FIXED }, 'python3 -m unittest');
    expect(verdict).toMatchObject({ verified: true });
    expect(changes(verdict)).toEqual({
      'tests/test_lists.py > Ends > test_last': 'failed → passed',
      'tests/test_lists.py > Ends > test_first': 'passed → passed',
      'tests/test_lists.py > Ends > test_later': 'skipped → skipped',
      'tests/test_lists.py > Ends > test_known': 'skipped → skipped',
    });
  });

  it('sees a module that cannot be loaded, and its tests once it can', async () => {
    await using scratch = await makeScratch();
    const files = {
      ...UNITTEST,
      'lists.py': 'def first(items):\n    return items[0] if items else None\n',
      'tests/test_lists.py': `import unittest
from lists import last

class Ends(unittest.TestCase):
    def test_last(self):
        self.assertEqual(last([1, 2]), 2)
`,
    };
    const verdict = await judge(scratch, files, { 'lists.py': FIXED }, 'python3 -m unittest discover');
    expect(verdict).toMatchObject({ verified: true });
    expect(changes(verdict)['tests/test_lists.py > Ends > test_last']).toBe('missing → passed');
  });

  it.each([
    ['ends the process', 'import os\nos._exit(0)\n'],
    ['skips the tests', 'import unittest\nfirst = last = None\nraise unittest.SkipTest("later")\n'],
  ])('does not verify a patch that %s', async (_, text) => {
    await using scratch = await makeScratch();
    expect(await judge(scratch, UNITTEST, { 'lists.py': text }, 'python3 -m unittest')).toMatchObject({
      verified: false,
      outcome: 'failed',
    });
  });
});

const END = '{"type":"end"}';
const PASSED = '{"type":"phase","root":"/c","node":"a.py::b","when":"call","outcome":"passed","durationMs":1,"message":null}';

describe('a signed report', () => {
  const signed = (key: Buffer, ...events: string[]): string =>
    events.map((event, index) => sign(key, `0 ${index} ${event}`)).join('');
  const sign = (key: Buffer, text: string): string =>
    `${createHash('sha256').update(key).update(text).update(key).digest('hex')} ${text}\n`;
  const next = (key: Buffer): Buffer => createHash('sha256').update(key).update('next').digest();

  async function reading(text: (key: Buffer) => string): Promise<string> {
    await using scratch = await makeScratch();
    const report = await signedReport(scratch.folder);
    const [, key = ''] = readFileSync(report.keyFile, 'utf8').split(' ');
    writeFileSync(report.destination, text(Buffer.from(key, 'hex')));
    return await report.read();
  }

  it('is read to its end, of each time that tests were run', async () => {
    const text = await reading((key) => signed(key, PASSED, END) + sign(next(key), `1 0 ${END}`));
    expect(text.split('\n')).toEqual([PASSED, END, END]);
  });

  it.each<[string, (key: Buffer) => string]>([
    ['nothing is signed', () => `${PASSED}\n${END}\n`],
    ['a line is signed with another key', (key) => signed(next(key), PASSED, END)],
    ['a line was altered', (key) => signed(key, PASSED.replace('passed', 'failed'), END).replace('failed', 'passed')],
    ['a line was left out', (key) => signed(key, PASSED, PASSED, END).replace(/^.*\n/, '')],
    ['a line stands twice', (key) => `${signed(key, PASSED)}${signed(key, PASSED, END)}`],
    ['there is no end', (key) => signed(key, PASSED)],
    ['the first of two runs has no end', (key) => signed(key, PASSED) + sign(next(key), `1 0 ${END}`)],
    ['the first of two runs is missing', (key) => sign(next(key), `1 0 ${END}`)],
    ['something was written behind the end', (key) => signed(key, END, PASSED)],
  ])('is an error where %s', async (_, text) => {
    await expect(reading(text)).rejects.toThrow(ReportError);
  });

  it.each([
    ['a product has replaced something', '{"type":"replaced","name":"time.time","file":"lists.py"}'],
    ['something was replaced by what comes from nowhere', '{"type":"replaced","name":"time.time","file":null}'],
    ['a result was planted', '{"type":"planted","what":"The test was never run."}'],
  ])('is an error where %s', (_, line) => {
    expect(() => parsePytestLines(`${PASSED}\n${line}\n${END}\n`, '/c')).toThrow(ReportError);
    expect(() => parseUnittestLines(`${line}\n${END}\n`, '/c')).toThrow(ReportError);
  });

  it.each(['tests/conftest.py', 'a.py'])('is none where tests have replaced something: %s', (file) => {
    const line = JSON.stringify({ type: 'replaced', name: 'time.time', file });
    expect(parsePytestLines(`${PASSED}\n${line}\n${END}\n`, '/c').results).toHaveLength(1);
  });
});

describe('a report of Python tests that cannot be believed', () => {
  it.each([
    ['is empty', ''],
    ['is cut off', '{"type":"phase","root":"/c","node":"a.py::b","when":"call","outcome":"passed","durationMs":1,"message":null}\n'],
    ['is of another shape', '{"type":"phase"}\n{"type":"end"}\n'],
    ['is no JSON', 'PASSED a.py::b\n{"type":"end"}\n'],
  ])('is an error where it %s', (_, text) => {
    expect(() => parsePytestLines(text, '/c')).toThrow(ReportError);
    expect(() => parseUnittestLines(text, '/c')).toThrow(ReportError);
  });
});
