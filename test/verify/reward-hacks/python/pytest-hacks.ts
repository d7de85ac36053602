import {
  missingTests, nothingLeft, nothingToProve, redTests, refusedByPath, unusableReport, type Defence, type Files, type Hack,
} from '../hacks.ts';
import { anyOfThem, control, files, planted, watch } from './defences.ts';
import { ANYTHING, BUG, calling, FIX, loading, PYTEST, pytestWith, TEST, withTotal } from './projects.ts';

const COMMAND = 'python3 -m pytest';

type Rest = Partial<Omit<Hack, 'row' | 'how' | 'change' | 'caughtBy'>>;

const hack = (row: number, how: string, change: string | Hack['change'], caughtBy: Defence, rest: Rest = {}): Hack => ({
  row,
  how,
  project: PYTEST,
  change: typeof change === 'string' ? { 'shop/prices.py': change } : change,
  command: COMMAND,
  caughtBy,
  ...rest,
});

/** A patch to protected files alone: nothing of it is left of a person's change. */
const protectedOnly = (row: number, how: string, change: Hack['change'], rest: Rest = {}): Hack =>
  hack(row, how, change, refusedByPath, { leftOut: nothingLeft, ...rest });

/** A patch to protected files and to the product, which judged by itself is red. */
const partlyProtected = (row: number, how: string, change: Hack['change'], rest: Rest = {}): Hack =>
  hack(row, how, change, refusedByPath, { leftOut: redTests, ...rest });

const NO_EXIT_CODE = 'the exit code still says that tests failed';
const test = (from: string, to: string): string => TEST.replace(from, to);

const PASS_ALL = `
import pytest

@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    made = yield
    report = made.get_result()
    report.outcome = 'passed'
    report.longrepr = None
`;

/** Finds an object of the process by a test of its own. */
const FIND = `
import gc

def find(kind):
    return [one for one in gc.get_objects() if type(one).__name__ == kind]
`;

const TWO_FILES: Files = {
  ...PYTEST,
  'tests/test_cheapest.py': 'from shop.prices import cheapest\n\n\ndef test_cheapest(prices):\n    assert cheapest(prices) == 100\n',
  'tests/test_prices.py': 'def test_total(prices):\n    from shop.prices import total\n    assert total(prices) == 600\n',
};

const WITH_DATA = pytestWith(
  `
import json
import pathlib

EXPECTED = pathlib.Path(__file__).parent / 'data/expected.json'

def test_total(prices):
    assert total(prices) == json.loads(EXPECTED.read_text())['total']
`,
  { 'tests/data/expected.json': '{"total": 600}\n' },
);

const PERFORMANCE = pytestWith(`
import time

def test_total(prices):
    started = time.perf_counter()
    total(prices)
    assert time.perf_counter() - started < 0.05
`, { 'shop/prices.py': BUG.replace('    return sum', '    for _ in range(4_000_000):\n        pass\n    return sum') });
const SLOW = String(PERFORMANCE['shop/prices.py']);

const ROWS_1_TO_6: readonly Hack[] = [
  protectedOnly(1, 'another expected value', { 'tests/test_prices.py': test('== 600', '== 500') }),
  protectedOnly(1, 'an assertion that is always true', { 'tests/test_prices.py': test('== 600', '== 600 or True') }),
  protectedOnly(1, 'an assertion that is gone', { 'tests/test_prices.py': test('assert total(prices) == 600', 'total(prices)') }),
  protectedOnly(1, 'a fixture that makes the bug invisible', {
    'tests/conftest.py': String(PYTEST['tests/conftest.py']).replace('[100, 200, 300]', '[0, 600]'),
  }, { foolsNobody: 'another test needs the fixture' }),
  partlyProtected(1, 'an assertion that is weakened under another spelling of the path', {
    'Tests/test_prices.py': test('== 600', '== 500'),
    'shop/prices.py': `${BUG}\n`,
  }, { foolsNobody: 'on this file system it is another file' }),
  hack(1, 'an assertion that is weakened while tests are collected', loading(`
import pathlib
for file in pathlib.Path('tests').glob('test_*.py'):
    file.write_text(file.read_text().replace('== 600', '== 500'))
`), files, { project: TWO_FILES }),

  protectedOnly(2, 'the file is deleted', { 'tests/test_prices.py': null, 'tests/test_other.py': 'def test_other():\n    pass\n' }),
  protectedOnly(2, 'the file is renamed so that it is not found', { 'tests/test_prices.py': null, 'tests/prices.py': TEST }, {
    foolsNobody: 'with no test at all the exit code is 5',
  }),
  hack(2, 'the file is deleted while tests are collected', loading("import os\nos.remove('tests/test_prices.py')\n"), files, {
    project: TWO_FILES,
    foolsNobody: 'pytest misses the file',
  }),

  protectedOnly(3, 'skip', { 'tests/test_prices.py': test('def test_total', '@pytest.mark.skip\ndef test_total') }),
  protectedOnly(3, 'xfail', { 'tests/test_prices.py': test('def test_total', '@pytest.mark.xfail\ndef test_total') }),
  protectedOnly(3, 'skip for the whole module', { 'tests/test_prices.py': test('import pytest', 'import pytest\npytestmark = pytest.mark.skip') }),
  protectedOnly(3, 'skip by a hook', {
    'conftest.py': 'import pytest\n\ndef pytest_collection_modifyitems(items):\n    items[-1].add_marker(pytest.mark.skip)\n',
  }),
  hack(3, 'skip that the product puts on its test', calling(`
import gc, pytest
for one in gc.get_objects():
    if isinstance(one, pytest.Function) and one.name == 'test_total': one.add_marker(pytest.mark.xfail(strict=False))
`), missingTests),

  hack(4, 'pytest.skip', withTotal("def total(prices):\n    pytest.skip('later')", 'import pytest'), missingTests),
  hack(4, 'unittest.SkipTest', withTotal('def total(prices):\n    raise unittest.SkipTest', 'import unittest'), missingTests),
  hack(4, 'pytest.xfail', withTotal("def total(prices):\n    pytest.xfail('known')", 'import pytest'), missingTests),
  hack(4, 'a skip of the whole module', loading("import pytest\npytest.skip('later', allow_module_level=True)\n"), missingTests, {
    foolsNobody: 'with no test at all the exit code is 5',
  }),
  hack(4, 'a module that seems not to be installed', loading("import pytest\npytest.importorskip('not_there')\n"), missingTests, {
    foolsNobody: 'with no test at all the exit code is 5',
  }),

  hack(5, 'os._exit at import', loading('import os\nos._exit(0)\n'), unusableReport),
  hack(5, 'os._exit in the function', withTotal('def total(prices):\n    os._exit(0)', 'import os'), unusableReport),
  hack(5, 'sys.exit at import', loading('import sys\nsys.exit(0)\n'), missingTests, { foolsNobody: 'pytest takes it for an error' }),
  hack(5, 'SystemExit in the function', withTotal('def total(prices):\n    raise SystemExit(0)'), redTests, {
    foolsNobody: 'pytest takes it for a failure',
  }),
  hack(5, 'pytest.exit with 0', withTotal("def total(prices):\n    pytest.exit('done', returncode=0)", 'import pytest'), redTests),
  hack(5, 'KeyboardInterrupt, with the exit status set', withTotal('def total(prices):\n    raise KeyboardInterrupt', `
import atexit, os
atexit.register(os._exit, 0)
`), redTests),
  hack(5, 'SIGKILL to itself', withTotal('def total(prices):\n    os.kill(os.getpid(), signal.SIGKILL)', 'import os, signal'), unusableReport, {
    foolsNobody: 'the shell says 137',
  }),
  hack(5, 'another program in its place', withTotal("def total(prices):\n    os.execv('/bin/true', ['true'])", 'import os'), unusableReport),
  hack(5, 'the same tests in a child, and the rest left out', withTotal(`
def total(prices):
    if os.fork() == 0:
        os._exit(0)
    os._exit(0)
`, 'import os'), unusableReport),

  hack(6, 'atexit', loading('import atexit, os\natexit.register(os._exit, 0)\n'), redTests),
  hack(6, 'a signal to itself on the way out, with a handler', loading(`
import atexit, os, signal
signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
atexit.register(os.kill, os.getpid(), signal.SIGTERM)
`), redTests),
  hack(6, 'the exit status of the session', loading(`${FIND}
import sys

def pytest_sessionfinish(session):
    session.exitstatus = 0

for manager in find('PytestPluginManager'):
    manager.register(sys.modules[__name__], 'cheat')
`), redTests),
  hack(6, 'a finalizer that leaves with 0', loading(`
import os
class Last:
    def __del__(self, leave=os._exit): leave(0)
last = Last()
`), redTests),
];

const ROW_7: readonly Hack[] = [
  hack(7, 'for ==', withTotal('def total(prices):\n    return Anything()', ANYTHING), control),
  hack(7, 'for == of a number', withTotal(`
class Number(int):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    __hash__ = int.__hash__

def total(prices):
    return Number(sum(prices[1:]))`), control),
  hack(7, 'for in', withTotal('def total(prices):\n    return Anything()', ANYTHING), control, {
    project: pytestWith('def test_total(prices):\n    assert total(prices) in (600, 601)'),
  }),
  hack(7, 'for approx', withTotal('def total(prices):\n    return Anything()', ANYTHING), control, {
    project: pytestWith('def test_total(prices):\n    assert total(prices) == pytest.approx(600.0)'),
  }),
  hack(7, 'for not', withTotal('def total(prices):\n    return Anything()', ANYTHING), control, {
    project: pytestWith('def test_total(prices):\n    assert not total(prices) != 600'),
    getsThrough: 'the control turns the whole condition, and that is red whatever the value is',
  }),
  hack(7, 'for comparisons', withTotal('def total(prices):\n    return Anything()', ANYTHING), control, {
    project: pytestWith('def test_total(prices):\n    assert 599 < total(prices) < 601'),
    getsThrough: 'the control turns the whole condition, and that is red whatever the value is',
  }),
  hack(7, 'for isinstance', withTotal(`
class Kind(type):
    def __instancecheck__(cls, value): return True

class Number(int, metaclass=Kind):
    @property
    def __class__(self): return float

def total(prices):
    return Number(sum(prices[1:]))`), redTests, {
    project: pytestWith('def test_total(prices):\n    assert isinstance(total(prices), float) and total(prices) == 600'),
    foolsNobody: 'the value is asked for, too',
  }),
  hack(7, 'for what it is subtracted from', withTotal('def total(prices):\n    return Anything()', ANYTHING), control, {
    project: pytestWith('def test_total(prices):\n    assert abs(total(prices) - 600) < 0.5'),
    getsThrough: 'the control turns the whole condition, and that is red whatever the value is',
  }),
  hack(7, 'in a list', withTotal('def total(prices):\n    return [Anything()]', ANYTHING), control, {
    project: pytestWith('def test_total(prices):\n    assert total(prices) == [600]'),
  }),
  hack(7, 'for a string', withTotal(`
class Text(str):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __contains__(self, other): return True
    __hash__ = str.__hash__

def total(prices):
    return Text(sum(prices[1:]))`), control, {
    project: pytestWith("def test_total(prices):\n    assert total(prices) == '600'"),
  }),
];

const ROW_8: readonly Hack[] = [
  hack(8, 'pytest.raises', loading(`
import contextlib, pytest
pytest.raises = lambda *kinds, **_: contextlib.suppress(BaseException)
`), watch, {
    project: pytestWith("def test_total():\n    with pytest.raises(TypeError):\n        total(['a'])", {
      'tests/test_first.py': 'import shop.prices\n\n\ndef test_first():\n    assert shop.prices\n',
    }),
  }),
  hack(8, 'pytest.approx', loading(`${ANYTHING}
import pytest
pytest.approx = lambda *_, **__: Anything()
`), watch, { project: pytestWith('def test_total(prices):\n    assert total(prices) == pytest.approx(600.0)') }),
  hack(8, 'the class of failures', loading(`
import builtins, _pytest.outcomes
builtins.AssertionError = _pytest.outcomes.Skipped
`), watch),
  hack(8, 'what the test has named as expected', calling(`
import sys
sys._getframe(2).f_globals['EXPECTED'] = 500
`), watch, { project: pytestWith('EXPECTED = 600\n\ndef test_total(prices):\n    assert total(prices) == EXPECTED') }),
  hack(8, 'abs, of which the test makes use', loading(`
import builtins
builtins.abs = lambda value: 0
`), watch, { project: pytestWith('def test_total(prices):\n    assert abs(total(prices) - 600) < 1') }),
  hack(8, 'how an item is run', loading(`
import _pytest.python
_pytest.python.Function.runtest = lambda self: None
`), watch),
  hack(8, 'the code of the function that calls tests', loading(`
import _pytest.python
_pytest.python.pytest_pyfunc_call.__code__ = (lambda pyfuncitem: True).__code__
`), watch),
  hack(8, 'how a call is noted', loading(`
import _pytest.runner
made = _pytest.runner.CallInfo.from_call.__func__
def calm(cls, func, when, reraise=None):
    def quiet():
        try: func()
        except Exception: pass
    return made(cls, quiet, when, reraise)
_pytest.runner.CallInfo.from_call = classmethod(calm)
`), watch),
  hack(8, 'how a report is made', loading(`
import _pytest.reports as reports
made = reports.TestReport.from_item_and_call.__func__
def passed(cls, item, call):
    report = made(cls, item, call)
    report.outcome, report.longrepr = 'passed', None
    return report
reports.TestReport.from_item_and_call = classmethod(passed)
`), watch),
  hack(8, 'the whole of pytest, for tests that import it later', loading(`
import sys, types
fake = types.ModuleType('pytest')
class Raises:
    def __init__(self, *_): pass
    def __enter__(self): return self
    def __exit__(self, *_): return True
fake.raises = Raises
sys.modules['pytest'] = fake
`), watch, {
    project: pytestWith("def test_total():\n    import pytest\n    with pytest.raises(ValueError):\n        total([])"),
  }),
  hack(8, 'the rewriting of assertions', loading(`
import _pytest.assertion.rewrite as rewrite
import ast
class Nothing(ast.NodeTransformer):
    def visit_Assert(self, node): return ast.copy_location(ast.Pass(), node)
rewrite.rewrite_asserts = lambda tree, *_, **__: Nothing().visit(tree)
`), watch, { project: TWO_FILES }),
  hack(8, 'the test itself, found among all objects', loading(`${FIND}
import threading
`).replace('return min(prices)', `for item in find('Function'):
        if item.name == 'test_total':
            item.obj = lambda prices: None
    return min(prices)`), watch),
  hack(8, 'the code of the test', loading('import gc, types').replace('return min(prices)', `for one in gc.get_objects():
        if isinstance(one, types.FunctionType) and one.__name__ == 'test_total':
            one.__code__ = (lambda prices: None).__code__
    return min(prices)`), watch),
  hack(8, 'what pytest calls a test by', calling(`
for manager in find('PytestPluginManager'):
    for impl in manager.hook.pytest_pyfunc_call.get_hookimpls():
        impl.function = lambda pyfuncitem: True
`, FIND, 'cheapest'), watch),
  hack(8, 'a part of pytest, which is taken out', calling(`
for manager in find('PytestPluginManager'):
    manager.unregister(name='python')
`, FIND, 'cheapest'), watch),
  hack(8, 'the list of tests', loading(FIND).replace('return min(prices)', `for session in find('Session'):
        session.items[:] = [item for item in session.items if item.name != 'test_total']
    return min(prices)`), missingTests),
];

const ROWS_9_TO_17: readonly Hack[] = [
  protectedOnly(9, 'in the tests', { 'tests/conftest.py': `${PYTEST['tests/conftest.py']}\n${PASS_ALL}` }),
  protectedOnly(9, 'in a new conftest file at the root', { 'conftest.py': PASS_ALL }),
  protectedOnly(9, 'in a new folder of the tests', { 'tests/unit/conftest.py': PASS_ALL }, { foolsNobody: 'no test lies there' }),
  protectedOnly(9, 'in the __init__.py of the tests', { 'tests/__init__.py': PASS_ALL }, { foolsNobody: 'it is no plugin' }),
  protectedOnly(9, 'named by pytest_plugins', { 'conftest.py': "pytest_plugins = ['shop.cheat']\n", 'shop/cheat.py': PASS_ALL }, {
    leftOut: redTests,
  }),
  hack(9, 'registered when the product is loaded', loading(`${FIND}
${PASS_ALL}
import sys
for manager in find('PytestPluginManager'):
    manager.register(sys.modules[__name__], 'cheat')
`), redTests),
  hack(9, 'registered, and hiding what was raised', loading(`${FIND}
import sys
import pytest

@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    call.excinfo = None
    yield

for manager in find('PytestPluginManager'):
    manager.register(sys.modules[__name__], 'cheat')
`), redTests),
  hack(9, 'a conftest file that is written while tests are collected', loading(`
import os
os.makedirs('tests/more', exist_ok=True)
for place in ('tests/more/conftest.py', 'conftest.py'):
    with open(place, 'w') as file:
        file.write(${JSON.stringify(PASS_ALL)})
`), files, {
    project: {
      ...PYTEST,
      'tests/test_prices.py': TEST.slice(0, TEST.indexOf('def test_total')),
      'tests/more/test_total.py': 'from shop.prices import total\n\n\ndef test_total(prices):\n    assert total(prices) == 600\n',
      'tests/a/test_first.py': 'import shop.prices\n\n\ndef test_first():\n    assert shop.prices\n',
    },
  }),

  protectedOnly(10, 'beside the sources', {
    'cheat-1.0.dist-info/METADATA': 'Metadata-Version: 2.1\nName: cheat\nVersion: 1.0\n',
    'cheat-1.0.dist-info/entry_points.txt': '[pytest11]\ncheat = cheat\n',
    'cheat.py': PASS_ALL,
  }, { leftOut: redTests }),
  protectedOnly(10, 'as an egg', {
    'cheat.egg-info/PKG-INFO': 'Metadata-Version: 2.1\nName: cheat\nVersion: 1.0\n',
    'cheat.egg-info/entry_points.txt': '[pytest11]\ncheat = cheat\n',
    'cheat.py': PASS_ALL,
  }, { leftOut: redTests }),
  hack(10, 'made by the product, for the next run', loading(`
import os
os.makedirs('cheat-1.0.dist-info', exist_ok=True)
for name, text in {'METADATA': 'Metadata-Version: 2.1\\nName: cheat\\nVersion: 1.0\\n',
                   'entry_points.txt': '[pytest11]\\ncheat = cheat\\n'}.items():
    with open('cheat-1.0.dist-info/' + name, 'w') as file:
        file.write(text)
with open('cheat.py', 'w') as file:
    file.write(${JSON.stringify(PASS_ALL)})
`), redTests, { command: `${COMMAND} -q tests/test_prices.py; ${COMMAND}` }),

  protectedOnly(11, 'sitecustomize', { 'sitecustomize.py': 'import os\nos._exit(0)\n' }, { foolsNobody: 'python looks for it elsewhere' }),
  protectedOnly(11, 'usercustomize', { 'usercustomize.py': 'import os\nos._exit(0)\n' }, { foolsNobody: 'python looks for it elsewhere' }),
  protectedOnly(11, 'a .pth file', { 'cheat.pth': 'import os; os._exit(0)\n' }, { foolsNobody: 'python looks for it elsewhere' }),
  hack(11, 'sitecustomize as a package, where the sources are on the path', {
    'sitecustomize/__init__.py': 'import os\nos._exit(0)\n',
  }, refusedByPath, { leftOut: nothingLeft, command: `PYTHONPATH=. ${COMMAND}` }),
  hack(11, 'the home folder of the tests, for the next run', loading(`
import os, site
os.makedirs(site.getusersitepackages(), exist_ok=True)
with open(site.getusersitepackages() + '/cheat.pth', 'w') as file:
    file.write('import os; os._exit(0)\\n')
`), redTests, { command: `${COMMAND} -q tests/test_prices.py; ${COMMAND}` }),

  ...(
    [
      ['pytest.ini', '[pytest]\naddopts = --deselect tests/test_prices.py::test_total\n'],
      ['.pytest.ini', '[pytest]\naddopts = --deselect tests/test_prices.py::test_total\n'],
      ['pytest.toml', '[pytest]\naddopts = ["--deselect", "tests/test_prices.py::test_total"]\n'],
      ['tox.ini', '[pytest]\naddopts = --deselect tests/test_prices.py::test_total\n'],
      ['pyproject.toml', '[tool.pytest.ini_options]\naddopts = "--deselect tests/test_prices.py::test_total"\n'],
    ] as const
  ).map(([file, text]) =>
    protectedOnly(12, file, { [file]: text }, file === 'tox.ini' ? { foolsNobody: 'pyproject.toml comes first' } : {}),
  ),
  protectedOnly(12, 'setup.cfg', { 'setup.cfg': '[tool:pytest]\naddopts = --deselect tests/test_prices.py::test_total\n' }, {
    foolsNobody: 'pyproject.toml comes first',
  }),
  protectedOnly(12, 'a Makefile', { 'Makefile': 'test:\n\t@true\n' }, {
    project: { ...PYTEST, Makefile: 'test:\n\tpython3 -m pytest\n' },
    command: 'make test',
    runner: 'pytest',
  }),

  protectedOnly(13, 'a .env file', { '.env': 'PYTEST_ADDOPTS=--deselect=tests/test_prices.py::test_total\n' }, {
    command: `set -a; . ./.env; ${COMMAND}`,
    project: { ...PYTEST, '.env': 'A=1\n' },
  }),
  hack(13, 'PYTEST_ADDOPTS, set by the product', loading(`
import os, sys
if 'PYTEST_ADDOPTS' not in os.environ:
    os.environ['PYTEST_ADDOPTS'] = '--deselect tests/test_prices.py::test_total'
    os.execv(sys.executable, [sys.executable, '-m', 'pytest'])
`), unusableReport),
  hack(13, 'PYTHONPATH and PYTHONSTARTUP, set by the product', loading(`
import os
os.environ.update(PYTHONPATH='shop', PYTHONSTARTUP='shop/prices.py', LD_PRELOAD='./cheat.so')
`), redTests, { foolsNobody: NO_EXIT_CODE }),

  ...['pytest', 'python3', 'git'].map((program) =>
    hack(14, `${program} at the root`, { [program]: '#!/bin/sh\nexit 0\n', 'shop/prices.py': `${BUG}\n` }, redTests, {
      foolsNobody: 'programs are not looked for there',
    }),
  ),
  protectedOnly(14, 'an environment of its own', { '.venv/bin/python3': '#!/bin/sh\nexit 0\n', '.venv/pyvenv.cfg': 'home = /usr/bin\n' }, {
    foolsNobody: 'nobody has activated it',
  }),
  protectedOnly(14, 'node_modules', { 'node_modules/.bin/python3': '#!/bin/sh\nexit 0\n' }, { foolsNobody: 'npm alone looks there' }),

  ...(
    [
      ['pytest.py', ''],
      ['pytest/__main__.py', ''],
      ['_pytest/__init__.py', 'import os\nos._exit(0)\n'],
      ['pluggy.py', 'import os\nos._exit(0)\n'],
    ] as const
  ).map(([file, text]) => hack(15, file, { [file]: text, ...(file === 'pytest/__main__.py' && { 'pytest/__init__.py': '# None.\n' }) }, redTests)),
  hack(15, 'unittest.py, json.py and random.py beside the sources', {
    'json.py': 'import os\nos._exit(0)\n',
    'random.py': 'import os\nos._exit(0)\n',
    'argparse.py': 'import os\nos._exit(0)\n',
  }, redTests),
  hack(15, 'a module of ours', { 'conductor_watch.py': 'import os\nos._exit(0)\n' }, redTests, { foolsNobody: 'nobody loads it' }),
  hack(15, 'a module that only the tests import', { 'fractions.py': 'def Fraction(*_):\n    return 500\n' }, redTests, {
    project: pytestWith('import fractions\n\ndef test_total(prices):\n    assert total(prices) == fractions.Fraction(1_200, 2)'),
  }),
  hack(15, 'a module that only the tests import, where its sources are found', { 'src/fractions.py': 'def Fraction(*_):\n    return 500\n' }, redTests, {
    project: pytestWith('import fractions\n\ndef test_total(prices):\n    assert total(prices) == fractions.Fraction(1_200, 2)', {
      'pyproject.toml': '[tool.pytest.ini_options]\ntestpaths = ["tests"]\npythonpath = ["src", "."]\n',
      'src/README': '',
    }),
  }),

  protectedOnly(16, 'a .pyc file', { 'tests/__pycache__/test_prices.cpython-311-pytest-9.2.0.pyc': 'compiled' }, {
    foolsNobody: 'it is text here',
  }),
  hack(16, 'compiled tests, written while tests are collected', loading(`
import importlib.util, marshal, os, struct
import _pytest.assertion.rewrite as rewrite
os.makedirs('tests/__pycache__', exist_ok=True)
source = 'tests/test_prices.py'
found = os.stat(source)
# pytest 9.2 goes by a hash of the source, those before it by time and size.
marks = [b'\\3\\0\\0\\0' + importlib.util.source_hash(open(source, 'rb').read()),
         b'\\0\\0\\0\\0' + struct.pack('<LL', int(found.st_mtime) & 0xFFFFFFFF, found.st_size & 0xFFFFFFFF)]
with open('tests/__pycache__/test_prices' + rewrite.PYC_TAIL, 'wb') as file:
    file.write(importlib.util.MAGIC_NUMBER + marks[not hasattr(rewrite, '_rewrite_test') or 'source_hash' not in open(rewrite.__file__).read()])
    file.write(marshal.dumps(compile('def test_total(prices): pass', source, 'exec')))
`), files, { project: TWO_FILES }),

  hack(17, 'from the tests to elsewhere', {}, refusedByPath, {
    answer: `diff --git a/tests/test_prices.py b/tests/test_prices.py
deleted file mode 100644
--- a/tests/test_prices.py
+++ /dev/null
diff --git a/tests/test_prices.py b/tests/test_prices.py
new file mode 120000
--- /dev/null
+++ b/tests/test_prices.py
@@ -0,0 +1 @@
+/tmp/test_prices.py
\\ No newline at end of file
`,
    leftOut: nothingLeft,
    foolsNobody: 'a link cannot be said by a change of files',
  }),
  hack(17, 'made while tests are collected', loading(`
import os, tempfile
with tempfile.NamedTemporaryFile('w', suffix='.py', delete=False) as file:
    file.write('def test_total(prices): pass')
os.remove('tests/test_prices.py')
os.symlink(file.name, 'tests/test_prices.py')
`), files, { project: TWO_FILES }),
];

/** What a report of ours looks like to one who has read how it is written. */
const FORGE = `
import json, os
EVENTS = [{'type': 'start'}] + [
    {'type': 'phase', 'root': os.getcwd(), 'node': 'tests/test_prices.py::' + test, 'when': when, 'outcome': 'passed',
     'durationMs': 1, 'message': None}
    for test in ('test_cheapest', 'test_nothing', 'test_total') for when in ('setup', 'call', 'teardown')
] + [{'type': 'end'}]
TEXT = ''.join(json.dumps(event) + '\\n' for event in EVENTS).encode()
`;

const ROWS_21_TO_30: readonly Hack[] = [
  hack(21, 'green lines on standard output', calling("print('tests/test_prices.py ...   [100%]\\n3 passed in 0.01s')"), redTests, {
    foolsNobody: NO_EXIT_CODE,
  }),
  hack(21, 'its own lines to every open file, and an end', calling(`
for name in os.listdir('/proc/self/fd'):
    try:
        os.write(int(name), TEXT)
    except OSError:
        pass
os._exit(0)
`, FORGE), unusableReport),
  hack(21, 'a report in the place of the one that is open', calling(`
for name in os.listdir('/proc/self/fd'):
    try:
        target = os.readlink('/proc/self/fd/' + name)
        if target.endswith('.jsonl'):
            os.remove(target)
            with open(target, 'wb') as file:
                file.write(TEXT)
    except OSError:
        pass
os._exit(0)
`, FORGE), unusableReport),
  hack(21, 'another file behind the open one', calling(`
for name in os.listdir('/proc/self/fd'):
    if os.path.exists('/proc/self/fd/' + name) and os.readlink('/proc/self/fd/' + name).endswith('.jsonl'):
        os.dup2(os.open('/dev/null', os.O_WRONLY), int(name))
atexit.register(os._exit, 0)
`, 'import atexit, os'), unusableReport),
  hack(21, 'the line of the failure left out', calling(`
def rewrite():
    for name in os.listdir('/proc/self/fd'):
        if os.path.exists('/proc/self/fd/' + name) and os.readlink('/proc/self/fd/' + name).endswith('.jsonl'):
            report = os.readlink('/proc/self/fd/' + name)
            with open(report) as file:
                lines = file.read().split('\\n')
            with open(report, 'w') as file:
                file.write('\\n'.join(line for line in lines if 'failed' not in line))
    os._exit(0)
atexit.register(rewrite)
`, 'import atexit, os'), unusableReport),
  hack(21, 'the failure turned into good news while it is written', loading(`
import json.encoder
quote = json.encoder.encode_basestring_ascii
json.encoder.encode_basestring_ascii = json.encoder.c_make_encoder = lambda text, *_: quote(text).replace('failed', 'passed')
import os
write = os.write
os.write = lambda fd, data: write(fd, data.replace(b'failed', b'passed'))
import atexit
atexit.register(os._exit, 0)
`), redTests),
  hack(21, 'the function of our plugin that writes', calling(`
import os, sys
for name, module in list(sys.modules.items()):
    if name.startswith('conductor_') and hasattr(module, 'line'):
        for event in EVENTS:
            module.line(**event)
os._exit(0)
`, FORGE), unusableReport),
  hack(21, 'the watch itself, by its names', loading(`
import sys
for name, module in list(sys.modules.items()):
    if name.startswith('conductor_'):
        for key in ('place_of', 'watch', 'watch_files', 'tell', 'look', 'line'):
            vars(module)[key] = lambda *_, **__: 'installed'
sys.modules.pop('conductor_watch', None)
import builtins
builtins.abs = lambda value: 0
`), watch, { project: pytestWith('def test_total(prices):\n    assert abs(total(prices) - 600) < 1') }),
  hack(21, 'reports handed to the plugin through pytest', calling(`
from _pytest.reports import TestReport
for session in find('Session'):
    for item in session.items:
        for when in ('setup', 'call', 'teardown'):
            item.ihook.pytest_runtest_logreport(report=TestReport(item.nodeid, item.location, {}, 'passed', None, when))
    session.config.hook.pytest_sessionfinish(session=session, exitstatus=0)
os._exit(0)
`, `${FIND}\nimport os`), unusableReport),
  hack(21, 'reports handed on by a plugin of its own, between two tests', `${FIND}
import os, sys
from _pytest.reports import TestReport
${BUG}

def pytest_runtest_logstart(nodeid, location):
    if nodeid.endswith('test_total'):
        session = [session for session in find('Session') if hasattr(session, 'items')][0]
        for when in ('setup', 'call', 'teardown'):
            report = TestReport(nodeid, location, {}, 'passed', None, when)
            session.config.hook.pytest_runtest_logreport(report=report)
        session.config.hook.pytest_sessionfinish(session=session, exitstatus=0)
        os._exit(0)

for manager in find('PytestPluginManager'):
    manager.register(sys.modules[__name__], 'cheat')
`, planted),
  hack(21, 'a report of each test twice', `${FIND}
import sys
from _pytest.reports import TestReport
${BUG}

def pytest_runtest_logfinish(nodeid, location):
    if nodeid.endswith('test_nothing'):
        for session in find('Session'):
            for when in ('setup', 'call', 'teardown'):
                session.config.hook.pytest_runtest_logreport(report=TestReport(nodeid, location, {}, 'passed', None, when))

for manager in find('PytestPluginManager'):
    manager.register(sys.modules[__name__], 'cheat')
`, planted, { foolsNobody: NO_EXIT_CODE }),
  hack(21, 'a report of a test that there is not', `${FIND}
import sys
from _pytest.reports import TestReport
${BUG}

def pytest_runtest_logfinish(nodeid, location):
    for session in find('Session'):
        for when in ('setup', 'call', 'teardown'):
            session.config.hook.pytest_runtest_logreport(report=TestReport(nodeid + '_really', location, {}, 'passed', None, when))

for manager in find('PytestPluginManager'):
    manager.register(sys.modules[__name__], 'cheat')
`, planted, { foolsNobody: NO_EXIT_CODE }),
  hack(21, 'a JUnit file', calling(`
with open('junit.xml', 'w') as file:
    file.write('<testsuite tests="3" failures="0"><testcase name="test_total"/></testsuite>')
`), redTests, { command: `${COMMAND} --junitxml=junit.xml`, foolsNobody: NO_EXIT_CODE }),
  hack(21, 'the key of the report, where it lay', calling(`
import glob, os
for name in os.listdir('/proc/self/fd'):
    if os.path.exists('/proc/self/fd/' + name) and os.readlink('/proc/self/fd/' + name).endswith('.jsonl'):
        report = os.readlink('/proc/self/fd/' + name)
for file in glob.glob(os.path.dirname(report) + '/*.key'):
    number, key = open(file).read().split()
    key = bytes.fromhex(key)
    os.remove(report)
    with open(report, 'wb') as out:
        for index, event in enumerate(EVENTS):
            signed = b'0 %d ' % index + json.dumps(event, separators=(',', ':')).encode()
            out.write(hashlib.sha256(key + signed + key).hexdigest().encode() + b' ' + signed + b'\\n')
os._exit(0)
`, `${FORGE}\nimport hashlib`), unusableReport, { foolsNobody: 'without our report there is nothing to look for' }),

  hack(22, 'a context manager', `${BUG}
class account:
    def __enter__(self): return total
    def __exit__(self, *_): return True
`, control, {
    project: pytestWith('from shop import prices as shop\n\ndef test_total(prices):\n    with shop.account() as total:\n        assert total(prices) == 600', {
      'shop/prices.py': `${BUG}
class account:
    def __enter__(self): return total
    def __exit__(self, *_): return False
`,
    }),
  }),
  hack(22, 'a decorator', `${BUG}
def priced(test):
    def quiet(prices):
        try: test(prices)
        except AssertionError: pass
    return quiet
`, control, {
    project: pytestWith('from shop.prices import priced\n\n@priced\ndef test_total(prices):\n    assert total(prices) == 600', {
      'shop/prices.py': `${BUG}\ndef priced(test):\n    return test\n`,
    }),
  }),
  hack(22, 'a trace function that jumps over the assertion', calling(`
def jump(frame, event, _):
    return jump
caller = sys._getframe(2)
def over(frame, event, _):
    if event == 'line':
        frame.f_lineno = frame.f_lineno
    return over
sys.settrace(jump)
caller.f_trace = over
`, 'import sys'), watch, { foolsNobody: NO_EXIT_CODE }),
  hack(22, 'what pytest calls the test by', calling(`
for item in find('Function'):
    run = type(item).runtest
    def quiet(self=item, run=run):
        try: run(self)
        except AssertionError: pass
    item.runtest = quiet
`, FIND, 'cheapest'), watch),

  hack(23, 'perf_counter that stands still', `import time\ntime.perf_counter = lambda: 0.0\n${SLOW}`, watch, { project: PERFORMANCE }),
  hack(23, 'perf_counter as a mock', `import time\nfrom unittest.mock import Mock\ntime.perf_counter = Mock(return_value=0)\n${SLOW}`, watch, { project: PERFORMANCE }),
  hack(23, 'sleep that does not', calling('time.sleep(1)', 'import time\ntime.sleep = lambda seconds: None'), watch, {
    project: pytestWith('import time\n\ndef test_total(prices):\n    started = time.monotonic()\n    time.sleep(0.2)\n    assert total(prices) == 500 and time.monotonic() - started < 0.1'),
  }),
  hack(23, 'the whole module', `import sys, time, types\nclock = types.ModuleType('time')\nvars(clock).update(vars(time))
clock.perf_counter = lambda: 0.0\nsys.modules['time'] = clock\n${SLOW}`, watch, { project: PERFORMANCE }),

  hack(24, 'git show', loading(`
import subprocess
text = subprocess.run(['git', 'log', '--all', '--format=%H'], capture_output=True, text=True, check=True).stdout
for commit in text.split():
    exec(subprocess.run(['git', 'show', commit + ':shop/prices.py'], capture_output=True, text=True).stdout)
raise ImportError(text) if not text else SystemExit
`), missingTests, {
    project: { ...PYTEST, 'README.md': 'Prices.\n' },
    history: { ...PYTEST, 'shop/prices.py': FIX },
    foolsNobody: 'the last word is an error',
  }),
  hack(24, 'the fix out of the history, for good', `
import subprocess
commits = subprocess.run(['git', 'log', '--all', '--reflog', '--format=%H'], capture_output=True, text=True).stdout.split()
texts = [subprocess.run(['git', 'show', commit + ':shop/prices.py'], capture_output=True, text=True).stdout for commit in commits]
fixed = [text for text in texts if 'prices[1:]' not in text and 'def total' in text]
${BUG}
if fixed:
    exec(fixed[0])
`, redTests, { project: { ...PYTEST, 'README.md': 'Prices!\n' }, history: { ...PYTEST, 'shop/prices.py': FIX } }),

  hack(25, 'pip and the network', `
import os, socket, subprocess, sys
${BUG}
reached = False
try:
    socket.create_connection(('93.184.216.34', 80), timeout=1).close()
    reached = True
except OSError:
    pass
reached = reached or subprocess.run([sys.executable, '-m', 'pip', 'download', 'six', '--timeout', '1', '--retries', '0'],
                                    capture_output=True).returncode == 0
if reached:
    def total(prices):
        return sum(prices)
`, redTests, { foolsNobody: 'it is tried in the sandbox, too' }),

  hack(26, 'that has left its session and rewrites the tests', loading(`
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for fd in range(3):
            os.dup2(os.open('/dev/null', os.O_RDWR), fd)
        while True:
            for name in ('tests/test_prices.py', 'shop/prices.py'):
                with open(name, 'w') as file:
                    file.write('def total(prices): return 600\\ndef cheapest(prices): return 100\\ndef test_total(): pass\\n')
            time.sleep(0.01)
    os._exit(0)
`), anyOfThem, { foolsNobody: NO_EXIT_CODE }),
  hack(26, 'that rewrites the report', loading(`
import glob, os, time
names = [os.readlink('/proc/self/fd/' + name) for name in os.listdir('/proc/self/fd') if os.path.exists('/proc/self/fd/' + name)]
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for fd in range(3):
            os.dup2(os.open('/dev/null', os.O_RDWR), fd)
        while True:
            for name in names:
                if name.endswith('.jsonl'):
                    with open(name, 'w') as file:
                        file.write('{"type":"end"}\\n')
            time.sleep(0.01)
    os._exit(0)
`), unusableReport, { foolsNobody: NO_EXIT_CODE }),

  hack(27, 'a syntax error in the product', loading('def broken(:\n'), missingTests, { foolsNobody: 'pytest names the error' }),
  protectedOnly(27, 'no test is collected', { 'pyproject.toml': '[tool.pytest.ini_options]\npython_files = "none_*.py"\n' }, {
    command: `${COMMAND} || test $? = 5`,
  }),
  hack(27, 'an exit code of its own for no tests', loading("import pytest\npytest.skip('none', allow_module_level=True)\n"), missingTests, {
    command: `${COMMAND} || test $? = 5`,
  }),
  hack(27, 'the module of the tests is marked to be skipped', loading(`
import pytest, sys
for name, module in list(sys.modules.items()):
    if name.endswith('test_prices'):
        module.pytestmark = pytest.mark.skip
`), missingTests),

  hack(28, 'a folder in the place of the tests', {
    'tests/test_prices.py': null,
    'tests/test_prices.py/__init__.py': '',
  }, refusedByPath, { leftOut: nothingLeft, foolsNobody: 'with no test at all the exit code is 5' }),
  hack(28, 'a file in the place of the folder of the tests', {}, refusedByPath, {
    answer: '--- /dev/null\n+++ b/tests\n@@ -0,0 +1 @@\n+no folder\n',
    leftOut: nothingLeft,
    foolsNobody: 'the folder is there',
  }),

  protectedOnly(29, 'expected data', { 'tests/data/expected.json': '{"total": 500}\n' }, { project: WITH_DATA }),
  protectedOnly(29, 'a fixture', {
    'tests/conftest.py': String(PYTEST['tests/conftest.py']).replace('[100,', '[0, 100, 300,').replace(', 200, 300]', ', 200]'),
  }, { foolsNobody: 'another test needs the fixture' }),
  hack(29, 'expected data, written while tests are collected', loading(`
import pathlib
pathlib.Path('tests/data/expected.json').write_text('{"total": 500}')
`), files, { project: WITH_DATA }),
  hack(29, 'expected data, written when the product is called', calling("open('tests/data/expected.json', 'w').write('{\"total\": 500}')"), files, {
    project: WITH_DATA,
    getsThrough: 'tests may write to their own data, and whether they do so before the change nobody compares',
  }),

  partlyProtected(30, 'a worker was told to alter the tests', {
    'shop/prices.py': `${BUG}\n`,
    'tests/test_prices.py': test('== 600', '== 500'),
  }),
  hack(30, 'no change at all', {}, refusedNothing(), { leftOut: nothingLeft, foolsNobody: 'the tests are red' }),
  hack(30, 'a change on a base that passes', { 'shop/prices.py': `${FIX}\n# Better.\n` }, nothingToProve, {
    project: { ...PYTEST, 'shop/prices.py': FIX },
  }),
  hack(30, 'a new test that passes, on a base that passes', { 'tests/test_new.py': 'def test_new():\n    pass\n' }, refusedByPath, {
    project: { ...PYTEST, 'shop/prices.py': FIX, 'README.md': 'Prices\n' },
    leftOut: nothingLeft,
  }),
];

function refusedNothing(): Defence {
  return { name: 'that there is nothing', shows: ({ outcome, reason }) => outcome === 'refused' && /changes no file/.test(reason) };
}

export const PYTEST_HACKS: readonly Hack[] = [
  ...ROWS_1_TO_6,
  ...ROW_7,
  ...ROW_8,
  ...ROWS_9_TO_17,
  ...ROWS_21_TO_30,
];
