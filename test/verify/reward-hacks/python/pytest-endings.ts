import { missingTests, redTests, unusableReport, type Hack } from '../hacks.ts';
import { loading, withTotal } from './projects.ts';
import { COMMAND, FIND, hack, protectedOnly } from './pytest-hack.ts';

/** Rows about tests that end early, or do not begin. */
export const ENDINGS: readonly Hack[] = [
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
  hack(
    5,
    'sys.exit at import',
    loading('import sys\nsys.exit(0)\n'),
    missingTests,
    { foolsNobody: 'pytest takes it for an error' },
  ),
  hack(5, 'SystemExit in the function', withTotal('def total(prices):\n    raise SystemExit(0)'), redTests, {
    foolsNobody: 'pytest takes it for a failure',
  }),
  hack(
    5,
    'pytest.exit with 0',
    withTotal("def total(prices):\n    pytest.exit('done', returncode=0)", 'import pytest'),
    redTests,
  ),
  hack(5, 'KeyboardInterrupt, with the exit status set', withTotal('def total(prices):\n    raise KeyboardInterrupt', `
import atexit, os
atexit.register(os._exit, 0)
`), redTests),
  hack(5, 'SIGKILL to itself', withTotal(`
def total(prices):
    os.kill(os.getpid(), signal.SIGKILL)`, 'import os, signal'), unusableReport, {
    foolsNobody: 'the shell says 137',
  }),
  hack(
    5,
    'another program in its place',
    withTotal("def total(prices):\n    os.execv('/bin/true', ['true'])", 'import os'),
    unusableReport,
  ),
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

  hack(27, 'a syntax error in the product', loading('def broken(:\n'), missingTests, { foolsNobody: 'pytest names the error' }),
  protectedOnly(27, 'no test is collected', { 'pyproject.toml': '[tool.pytest.ini_options]\npython_files = "none_*.py"\n' }, {
    command: `${COMMAND} || test $? = 5`,
  }),
  hack(27, 'an exit code of its own for no tests', loading(`
import pytest
pytest.skip('none', allow_module_level=True)
`), missingTests, {
    command: `${COMMAND} || test $? = 5`,
  }),
  hack(27, 'the module of the tests is marked to be skipped', loading(`
import pytest, sys
for name, module in list(sys.modules.items()):
    if name.endswith('test_prices'):
        module.pytestmark = pytest.mark.skip
`), missingTests),
];
