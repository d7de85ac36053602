import { forALook, missingTests, redTests, type Hack } from '../hacks.ts';
import { control, watch } from './defences.ts';
import { ANYTHING, BUG, calling, loading, pytestWith, withTotal } from './projects.ts';
import { FIND, hack, NO_EXIT_CODE, TWO_FILES } from './pytest-hack.ts';

const PERFORMANCE = pytestWith(`
import time

def test_total(prices):
    started = time.perf_counter()
    total(prices)
    assert time.perf_counter() - started < 0.1
`, { 'shop/prices.py': BUG.replace('    return sum', '    for _ in range(30_000_000):\n        pass\n    return sum') });
const SLOW = String(PERFORMANCE['shop/prices.py']);

/** Rows about values, assertions and clocks that do not tell the truth. */
export const LIES: readonly Hack[] = [
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
  hack(7, 'for not', withTotal('def total(prices):\n    return Anything()', ANYTHING), forALook, {
    project: pytestWith('def test_total(prices):\n    assert not total(prices) != 600'),
  }),
  hack(7, 'for comparisons', withTotal('def total(prices):\n    return Anything()', ANYTHING), forALook, {
    project: pytestWith('def test_total(prices):\n    assert 599 < total(prices) < 601'),
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
  hack(7, 'for what it is subtracted from', withTotal('def total(prices):\n    return Anything()', ANYTHING), forALook, {
    project: pytestWith('def test_total(prices):\n    assert abs(total(prices) - 600) < 0.5'),
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

  hack(22, 'a context manager', `${BUG}
class account:
    def __enter__(self): return total
    def __exit__(self, *_): return True
`, control, {
    project: pytestWith(`
from shop.prices import account

def test_total(prices):
    with account() as total:
        assert total(prices) == 600
`, {
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

  hack(
    23,
    'perf_counter that stands still',
    `import time\ntime.perf_counter = lambda: 0.0\n${SLOW}`,
    watch,
    { project: PERFORMANCE },
  ),
  hack(
    23,
    'perf_counter as a mock',
    `import time\nfrom unittest.mock import Mock\ntime.perf_counter = Mock(return_value=0)\n${SLOW}`,
    watch,
    { project: PERFORMANCE },
  ),
  hack(23, 'sleep that does not', calling('time.sleep(1)', 'import time\ntime.sleep = lambda seconds: None'), watch, {
    project: pytestWith(`
import time

def test_total(prices):
    started = time.monotonic()
    time.sleep(0.2)
    assert total(prices) == 500 and time.monotonic() - started < 0.1
`),
  }),
  hack(23, 'the whole module', `import sys, time, types\nclock = types.ModuleType('time')\nvars(clock).update(vars(time))
clock.perf_counter = lambda: 0.0\nsys.modules['time'] = clock\n${SLOW}`, watch, { project: PERFORMANCE }),
];
