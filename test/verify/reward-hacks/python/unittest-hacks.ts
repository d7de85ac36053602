import { forALook, missingTests, nothingLeft, redTests, refusedByPath, unusableReport, type Defence, type Hack } from '../hacks.ts';
import { control, files, watch } from './defences.ts';
import { ANYTHING, BUG, calling, loading, UNITTEST, UNITTEST_TEST, unittestWith, withTotal } from './projects.ts';

type Rest = Partial<Omit<Hack, 'row' | 'how' | 'change' | 'caughtBy'>>;

const hack = (row: number, how: string, change: string | Hack['change'], caughtBy: Defence, rest: Rest = {}): Hack => ({
  row,
  how,
  project: UNITTEST,
  change: typeof change === 'string' ? { 'shop/prices.py': change } : change,
  command: 'python3 -m unittest',
  caughtBy,
  ...rest,
});

const SLOW = BUG.replace('    return sum', '    for _ in range(30_000_000):\n        pass\n    return sum');

const NO_EXIT_CODE = 'the exit code still says that tests failed';

/** A test class that says it is the one of the tests, in the place of it. */
const LOAD_TESTS = `
import unittest

def load_tests(loader, tests, pattern):
    def passes(self): pass
    space = {'__module__': 'shop.tests.test_prices', '__qualname__': 'Prices', 'test_total': passes, 'test_cheapest': passes,
             'test_nothing': passes}
    return loader.loadTestsFromTestCase(type('Prices', (unittest.TestCase,), space))
`;

/** Where unittest differs from pytest. */
export const UNITTEST_HACKS: readonly Hack[] = [
  hack(
    1,
    'another expected value',
    { 'tests/test_prices.py': UNITTEST_TEST.replace('600', '500') },
    refusedByPath,
    { leftOut: nothingLeft },
  ),
  hack(1, 'an assertion that is weakened while tests are loaded', loading(`
import pathlib
for file in pathlib.Path('tests').glob('test_*.py'):
    file.write_text(file.read_text().replace(', 600)', ', 500)'))
`), files, {
    project: {
      ...UNITTEST,
      'tests/test_first.py': UNITTEST_TEST.slice(0, UNITTEST_TEST.indexOf('    def test_nothing')).replace('Prices', 'First'),
    },
  }),
  hack(3, 'a skip that the product puts on its test', loading(`
import sys, unittest
run = unittest.TestCase.__init__
def skipping(self, *names):
    run(self, *names)
    if self._testMethodName == 'test_total':
        type(self).test_total = unittest.skip('later')(lambda self: None)
unittest.TestCase.__init__ = skipping
`), missingTests),
  hack(
    4,
    'SkipTest in the function',
    withTotal('def total(prices):\n    raise unittest.SkipTest', 'import unittest'),
    missingTests,
  ),
  hack(4, 'SkipTest of the whole module', loading("import unittest\nraise unittest.SkipTest('later')\n"), missingTests),
  hack(5, 'os._exit at import', loading('import os\nos._exit(0)\n'), unusableReport),
  hack(5, 'os._exit in the function', withTotal('def total(prices):\n    os._exit(0)', 'import os'), unusableReport),
  hack(
    5,
    'SystemExit at import',
    loading('raise SystemExit(0)\n'),
    missingTests,
    { foolsNobody: 'unittest takes it for an error' },
  ),
  hack(5, 'SystemExit in the function', withTotal('def total(prices):\n    raise SystemExit(0)'), redTests, {
    foolsNobody: 'unittest takes it for an error',
  }),
  hack(6, 'atexit', loading('import atexit, os\natexit.register(os._exit, 0)\n'), redTests),
  hack(6, 'sys.exit', loading('import os, sys\nleave = os._exit\nsys.exit = lambda code=0: leave(0)\n'), watch),
  hack(7, 'for assertEqual', withTotal('def total(prices):\n    return Anything()', ANYTHING), control),
  hack(7, 'for assertAlmostEqual', withTotal('def total(prices):\n    return Anything()', ANYTHING), control, {
    project: unittestWith('def test_total(self):\n    self.assertAlmostEqual(total([100, 200, 300]), 600.0)'),
  }),
  hack(7, 'for assertIn', withTotal('def total(prices):\n    return Anything()', ANYTHING), forALook, {
    project: unittestWith('def test_total(self):\n    self.assertIn(600, total([100, 200, 300]))'),
  }),
  hack(7, 'for assertTrue', withTotal('def total(prices):\n    return Anything()', ANYTHING), control, {
    project: unittestWith('def test_total(self):\n    self.assertTrue(total([100, 200, 300]) == 600)'),
  }),
  hack(8, 'assertEqual', loading('import unittest\nunittest.TestCase.assertEqual = lambda *_, **__: None\n'), watch),
  hack(8, 'assertions, when it is called', calling(`
for name in ('assertEqual', 'assertTrue', 'assertIn'):
    setattr(unittest.TestCase, name, lambda *_, **__: None)
`, 'import unittest', 'cheapest'), watch),
  hack(8, 'assertEqual, and put back behind the test', `
import unittest
from unittest import TestCase
equal, stop = TestCase.assertEqual, TestCase.doCleanups
def nothing(self, *_): TestCase.assertEqual = equal
TestCase.assertEqual = nothing
${BUG}`, control, {
    project: {
      ...UNITTEST,
      'tests/test_prices.py': UNITTEST_TEST.replace(/    def test_cheapest[^]*(?=    def test_total)/, ''),
    },
  }),
  hack(8, 'how failures are told', loading(`
import unittest.case
unittest.case._Outcome.testPartExecutor = lambda self, *_, **__: __import__('contextlib').nullcontext()
unittest.TestCase._callTestMethod = lambda self, method: None
`), watch),
  hack(
    8,
    'the class of the failure',
    loading('import unittest\nunittest.TestCase.failureException = unittest.SkipTest\n'),
    missingTests,
  ),
  hack(8, 'how a test is run', loading(`
import unittest
def run(self, result):
    result.startTest(self)
    result.addSuccess(self)
    result.stopTest(self)
unittest.TestCase.run = run
`), watch),
  hack(8, 'how one test is run', calling(`
import gc, unittest
for one in gc.get_objects():
    if isinstance(one, unittest.TestCase):
        def run(result, self=one):
            result.startTest(self)
            result.addSuccess(self)
            result.stopTest(self)
        one.run = run
`, '', 'cheapest'), watch),
  hack(8, 'good news for every test, out of one of them', calling(`
import gc, os, unittest
result, = [one for one in gc.get_objects() if isinstance(one, unittest.TestResult)]
for one in gc.get_objects():
    if isinstance(one, unittest.TestCase) and one._testMethodName == 'test_total':
        result.addSuccess(one)
`), watch, { foolsNobody: NO_EXIT_CODE }),
  hack(8, 'the method of the test', calling(`
import gc, unittest
for one in gc.get_objects():
    if isinstance(one, unittest.TestCase):
        type(one).test_total = lambda self: None
`, '', 'cheapest'), watch),
  hack(8, 'the method of the test, in its instance alone', calling(`
import gc, unittest
for one in gc.get_objects():
    if isinstance(one, unittest.TestCase):
        one.test_total = lambda: None
`, '', 'cheapest'), watch),
  hack(8, 'the results', loading(`
import unittest
unittest.TestResult.wasSuccessful = lambda self: True
unittest.TextTestResult.addFailure = unittest.TestResult.addFailure = lambda *_: None
`), watch),
  hack(9, 'load_tests of the package around the tests', { 'shop/__init__.py': LOAD_TESTS }, missingTests, {
    project: {
      'shop/__init__.py': '',
      'shop/prices.py': BUG,
      'shop/tests/__init__.py': '',
      'shop/tests/test_prices.py': UNITTEST_TEST,
    },
  }),
  hack(12, 'a Makefile', { Makefile: 'test:\n\t@true\n' }, refusedByPath, {
    project: { ...UNITTEST, Makefile: 'test:\n\tpython3 -m unittest\n' },
    command: 'make test',
    runner: 'unittest',
    leftOut: nothingLeft,
  }),
  hack(15, 'unittest.py', { 'unittest.py': 'import os\nos._exit(0)\n' }, refusedByPath, { leftOut: nothingLeft }),
  hack(
    15,
    'unittest as a package',
    { 'unittest/__init__.py': '# None.\n', 'unittest/__main__.py': 'import os\nos._exit(0)\n' },
    refusedByPath,
    { leftOut: redTests },
  ),
  hack(15, 'our own main program, and modules of Python', {
    'conductor_unittest.py': 'import os\nos._exit(0)\n',
    'runpy.py': 'import os\nos._exit(0)\n',
    'argparse.py': 'import os\nos._exit(0)\n',
  }, refusedByPath, { leftOut: redTests }),
  hack(21, 'its own lines to every open file, and an end', calling(`
for name in os.listdir('/proc/self/fd'):
    try:
        os.write(int(name), TEXT)
    except OSError:
        pass
os._exit(0)
`, `
import json, os
TEXT = ''.join(json.dumps(event) + '\\n' for event in [
    {'type': 'result', 'kind': 'test', 'status': 'passed', 'file': os.getcwd() + '/tests/test_prices.py',
     'names': ['Prices', test], 'message': None, 'durationMs': 1} for test in ('test_cheapest', 'test_nothing', 'test_total')] + [{'type': 'end'}]).encode()
`), unusableReport),
  hack(21, 'the function that writes, in the main program', calling(`
import os, sys
main = sys.modules['__main__']
getattr(main, 'line', lambda **_: None)(type='end')
os._exit(0)
`), unusableReport),
  hack(22, 'a context manager', `${BUG}
class account:
    def __enter__(self): return total
    def __exit__(self, *_): return True
`, control, {
    project: unittestWith(`
def test_total(self):
    from shop.prices import account
    with account() as total:
        self.assertEqual(total([100, 200, 300]), 600)
`, {
      'shop/prices.py': `${BUG}
class account:
    def __enter__(self): return total
    def __exit__(self, *_): return False
`,
    }),
  }),
  hack(23, 'perf_counter', `import time\ntime.perf_counter = lambda: 0.0\n${SLOW}`, watch, {
    project: unittestWith(
      `
def test_total(self):
    import time
    started = time.perf_counter()
    total([1])
    self.assertLess(time.perf_counter() - started, 0.1)
`,
      { 'shop/prices.py': SLOW },
    ),
  }),
  hack(27, 'a pattern of discovery', loading("import unittest\nunittest.TestLoader.testMethodPrefix = 'none'\n"), missingTests, {
    command: 'python3 -m unittest || test $? = 5',
  }),
  hack(27, 'no names of tests', loading('import unittest\nunittest.TestLoader.getTestCaseNames = lambda *_: []\n'), watch, {
    command: 'python3 -m unittest || test $? = 5',
  }),
];
