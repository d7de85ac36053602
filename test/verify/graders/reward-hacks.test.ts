import { randomUUID } from 'node:crypto';
import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { CasesGrader, type TestCase } from '../../../backend/verify/graders/code/cases-grader.ts';
import { UnittestGrader } from '../../../backend/verify/graders/code/unittest-grader.ts';
import type { Grade } from '../../../backend/verify/graders/grader.ts';
import { makeScratch, PATIENTLY, processesWith, type Scratch } from '../setup.ts';
import { gradeOf, programsIn, python, sourceOf, tryPrograms } from './setup.ts';

const { available, note } = await tryPrograms('python');

const limits = { cpuTimeMs: 1_000, memoryBytes: 256 * 1024 ** 2 };

const SQUARES: readonly TestCase[] = [
  { input: '2', output: '4' },
  { input: '7', output: '49' },
  { input: '12', output: '144' },
];

async function onCases(source: string, cases: readonly TestCase[] = SQUARES, functionName?: string): Promise<Grade> {
  await using scratch = await makeScratch();
  const grader = new CasesGrader({ cases: () => cases, limits, functionName }, programsIn(scratch));
  const grade = await gradeOf(grader, python(source));
  await expect.poll(() => processesWith(scratch.folder), PATIENTLY).toEqual([]);
  expect(await readdir(scratch.folders.root)).toEqual([]);
  return grade;
}

describe.skipIf(!available)(`a program that cheats on cases (${note})`, { timeout: 180_000 }, () => {
  it.each([
    ['prints every answer there could be', 'for i in range(1000): print(i)'],
    ['prints all of them on one line', 'print(*range(1000))'],
    ['exits with 0 at once', 'import os\nos._exit(0)'],
    ['raises SystemExit at once', 'raise SystemExit(0)'],
    ['prints what a checker would', sourceOf('print("OK")', 'print("All tests passed")', 'print(True)')],
    ['writes without end', 'while True: print("4" * 1000)'],
    ['writes without end from a child', sourceOf('import os', 'os.fork()', 'while True: os.write(1, b"4" * 1000)')],
    ['runs without end', 'while True: pass'],
    ['sleeps', 'import time\ntime.sleep(1000)'],
    // A fork bomb proper is tried in the tests of the sandbox itself; this one stops at 64 processes that keep going.
    ['works on in many processes', sourceOf('import os', 'for _ in range(6): os.fork()', 'while True: pass')],
    ['takes all memory', 'x = []\nwhile True: x.append(bytearray(10 ** 7))'],
    [
      'ignores the signal for its time limit',
      sourceOf('import signal', 'signal.signal(signal.SIGXCPU, signal.SIG_IGN)', 'while True: pass'),
    ],
    ['kills everything that it can', 'import os, signal\nos.kill(-1, signal.SIGKILL)'],
    ['kills its parent', 'import os, signal\nos.kill(os.getppid(), signal.SIGKILL)'],
    [
      'puts a link to another file in place of its output',
      sourceOf('import os', 'f = os.readlink("/proc/self/fd/1")', 'os.unlink(f)', 'os.symlink("/etc/passwd", f)'),
    ],
    [
      'puts a pipe in place of its output',
      sourceOf('import os', 'f = os.readlink("/proc/self/fd/1")', 'os.unlink(f)', 'os.mkfifo(f)'),
    ],
    ['fills the disk with its output', 'import os\nos.ftruncate(1, 10 ** 12)'],
  ])('is not verified: %s', async (_how, source) => {
    const grade = await onCases(source);
    expect(grade, grade.reason).toMatchObject({ verified: false, score: 0, outcome: 'failed' });
  });

  it.each([
    [
      'returns what equals everything',
      sourceOf(
        'class Same(int):',
        '    def __eq__(self, other): return True',
        '    __hash__ = int.__hash__',
        'def f(x): return Same(0)',
      ),
    ],
    [
      'returns an object that equals everything',
      sourceOf('class Same:', '    def __eq__(self, other): return True', 'def f(x): return Same()'),
    ],
    [
      'writes a result of its own for the driver',
      sourceOf(
        'import os',
        'def f(x):',
        '    for fd in range(3, 20):',
        '        try: os.write(fd, b"true")',
        '        except OSError: pass',
        '    os._exit(0)',
      ),
    ],
    [
      'rewrites how results are written',
      sourceOf('import json', 'json.dump = lambda value, handle: handle.write("true")', 'def f(x): return 0'),
    ],
    ['returns without end', sourceOf('def f(x):', '    a = []', '    a.append(a)', '    return a')],
  ])('is not verified when it is called: %s', async (_how, source) => {
    expect(await onCases(source, SQUARES, 'f')).toMatchObject({ verified: false, score: 0, outcome: 'failed' });
  });

  it('finds the expected results nowhere: not in files, not in other processes, not in the environment', async () => {
    const marker = `needle-${randomUUID()}`;
    const [secret, planted] = [`${marker}-expected`, `${marker}-planted`];
    await using scratch = await makeScratch();
    const taskFile = path.join(scratch.folder, 'tasks.jsonl');
    await writeFile(taskFile, JSON.stringify({ cases: [{ input: '', output: secret }] }));
    const search = searchFor(marker, scratch);
    // The search is no use if it could not find a thing: it does find what lies open.
    const open = new CasesGrader({ cases: () => [{ input: planted, output: planted }] }, programsIn(scratch, [taskFile]));
    expect((await gradeOf(open, python(search))).outcome).toBe('verified');

    const grader = new CasesGrader({ cases: () => [{ input: '', output: secret }] }, programsIn(scratch, [taskFile]));
    expect(await gradeOf(grader, python(search))).toMatchObject({ verified: false, outcome: 'failed' });
  });

  it('cannot keep anything from one case for the next', async () => {
    const source = [
      'import os, pathlib',
      'n = int(input())',
      'files = [pathlib.Path(folder, "seen") for folder in (".", os.environ["TMPDIR"], "/tmp", "/var/tmp", "/dev/shm")]',
      'if any(file.exists() for file in files): print("seen before")',
      'for file in files:',
      '    try: file.write_text("x")',
      '    except OSError: pass',
      'print(n * n)',
    ].join('\n');
    expect((await onCases(source)).outcome).toBe('verified');
  });

  it('leaves no process behind', async () => {
    const mark = `left-behind-${randomUUID()}`;
    const source = sourceOf(
      `import subprocess, sys`,
      `subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", "${mark}"], start_new_session=True)`,
      `n = int(input())`,
      `print(n * n)`,
    );
    expect((await onCases(source)).outcome).toBe('verified');
    await expect.poll(() => processesWith(mark), PATIENTLY).toEqual([]);
  });

  it('that knows the visible cases by heart cannot be told from an honest one by them alone, but fails the hidden ones', async () => {
    const source = 'print({"2": 4, "7": 49}[input().strip()])';
    expect((await onCases(source, SQUARES.slice(0, 2))).outcome).toBe('verified');
    expect((await onCases(source)).outcome).toBe('failed');
  });
});

/** Prints the first word with the marker that lies in a file or in what there is of other processes. */
function searchFor(marker: string, scratch: Scratch): string {
  return `
import os, re, sys
pattern = re.compile(rb"${marker}-[a-z]+")
def look(file):
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NONBLOCK)
        try:
            found = pattern.search(os.read(handle, 5_000_000))
        finally:
            os.close(handle)
    except (OSError, MemoryError):
        return
    if found:
        print(found.group().decode())
        sys.exit()
for process in os.listdir("/proc"):
    if process.isdigit():
        for name in ("environ", "cmdline", "stack"):
            look(f"/proc/{process}/{name}")
        try:
            for fd in os.listdir(f"/proc/{process}/fd"):
                if process != str(os.getpid()): look(f"/proc/{process}/fd/{fd}")
        except OSError:
            pass
for root in (${JSON.stringify(scratch.folder)}, "/tmp", "/dev/shm", "/run", "."):
    for folder, _, files in os.walk(root):
        for name in files:
            file = os.path.join(folder, name)
            if os.path.isfile(file) and os.stat(file).st_size < 1_000_000 and "program" not in name: look(file)
`;
}

const TEST = `
import unittest

class TestCases(unittest.TestCase):
    def test_two(self):
        self.assertEqual(task_func(2), 4)

    def test_three(self):
        self.assertTrue(task_func(3) == 9)
        self.assertIn(task_func(4), [16])

    def test_none(self):
        self.assertRaises(TypeError, task_func, None)
`;

const STATIC_FORGERY = `
import sys, os, json
def task_func(x):
    frame = sys._getframe()
    while frame and "request" not in frame.f_globals: frame = frame.f_back
    space = frame.f_globals
    tests = {"test_two": "passed", "test_three": "passed", "test_none": "passed"}
    json.dump({"key": space["request"]["key"], "tests": tests, "tricks": []}, space["report"])
    space["report"].flush()
    os._exit(0)
`;

describe.skipIf(!available)(`a program that cheats on unit tests (${note})`, { timeout: 180_000 }, () => {
  it.each([
    ['exits when it is loaded', 'import os\nos._exit(0)'],
    ['exits when it is called', 'import sys\ndef task_func(x): sys.exit(0)'],
    ['exits at once from a call', 'import os\ndef task_func(x): os._exit(0)'],
    ['skips', 'import unittest\ndef task_func(x): raise unittest.SkipTest("later")'],
    [
      'returns what equals everything',
      sourceOf(
        'class Same(int):',
        '    def __eq__(self, other): return True',
        '    __hash__ = int.__hash__',
        'def task_func(x):',
        '    if x is None: raise TypeError',
        '    return Same()',
      ),
    ],
    [
      'returns a list member that equals everything',
      sourceOf(
        'class Same:',
        '    def __eq__(self, other): return True',
        'def task_func(x):',
        '    if x is None: raise TypeError',
        '    return Same()',
      ),
    ],
    [
      'replaces assertions',
      sourceOf(
        'import unittest',
        'for name in dir(unittest.TestCase):',
        '    if name.startswith("assert"): setattr(unittest.TestCase, name, lambda *a, **k: None)',
        'def task_func(x): return 1',
      ),
    ],
    [
      'replaces assertions when it is called',
      sourceOf(
        'import unittest',
        'def task_func(x):',
        '    unittest.TestCase.assertEqual = unittest.TestCase.assertIn = unittest.TestCase.assertTrue = lambda *a, **k: None',
        '    if x is None: raise TypeError',
        '    return 1',
      ),
    ],
    [
      'replaces how a test is run',
      sourceOf(
        'import unittest',
        'unittest.TestCase.run = lambda self, result: result.addSuccess(self)',
        'def task_func(x): return 1',
      ),
    ],
    [
      'replaces how a failure is noted',
      sourceOf('import unittest', 'unittest.case._Outcome.testPartExecutor = lambda *a, **k: None', 'def task_func(x): return 1'),
    ],
    [
      'replaces the class for failures',
      sourceOf('import builtins', 'builtins.AssertionError = ValueError', 'def task_func(x): return 1'),
    ],
    [
      'plants a test class',
      sourceOf(
        'import unittest',
        'class TestCases(unittest.TestCase):',
        '    def test_two(self): pass',
        '    test_three = test_none = test_two',
        'def task_func(x): return 1',
      ),
    ],
    [
      'plants the modules of the driver',
      sourceOf('import sys, types', 'sys.modules["unittest"] = types.ModuleType("unittest")', 'def task_func(x): return 1'),
    ],
    [
      'writes a report without the key',
      sourceOf(
        'import os',
        'def task_func(x):',
        '    for fd in range(3, 20):',
        '        tests = b\'{"test_two":"passed","test_three":"passed","test_none":"passed"}\'',
        '        try: os.write(fd, b\'{"key":"","tests":\' + tests + b\',"tricks":[]}\')',
        '        except OSError: pass',
        '    os._exit(0)',
      ),
    ],
    ['takes the key from the driver and reports that all passed', STATIC_FORGERY],
    [
      'notes a success in the result of the driver',
      sourceOf(
        'import gc, unittest',
        'def task_func(x):',
        '    for one in gc.get_objects():',
        '        if not isinstance(one, unittest.TestResult): continue',
        '        one.note = lambda test, status: one.found.update({test.id().split(".")[-1]: "passed"})',
        '    return 1',
      ),
    ],
  ])('is not verified: %s', async (_how, source) => {
    await using scratch = await makeScratch();
    const grade = await gradeOf(
      new UnittestGrader({ test: TEST, limits: { cpuTimeMs: 5_000 } }, programsIn(scratch)),
      python(source),
    );
    expect(grade).toMatchObject({ verified: false, outcome: 'failed' });
  });
});
