import { missingTests, nothingLeft, redTests, refusedByPath, type Hack } from '../hacks.ts';
import { anyOfThem, files } from './defences.ts';
import { BUG, FIX, loading, PYTEST, pytestWith, TEST } from './projects.ts';
import { COMMAND, FIND, hack, NO_EXIT_CODE, PASS_ALL, protectedOnly, TWO_FILES } from './pytest-hack.ts';

/** Rows about what is put where the runner, Python or a later process finds it. */
export const PLANTS: readonly Hack[] = [
  protectedOnly(9, 'in the tests', { 'tests/conftest.py': `${PYTEST['tests/conftest.py']}\n${PASS_ALL}` }),
  protectedOnly(9, 'in a new conftest file at the root', { 'conftest.py': PASS_ALL }),
  protectedOnly(9, 'in a new folder of the tests', { 'tests/unit/conftest.py': PASS_ALL }, { foolsNobody: 'no test lies there' }),
  protectedOnly(9, 'in the __init__.py of the tests', { 'tests/__init__.py': PASS_ALL }, { foolsNobody: 'it is no plugin' }),
  hack(9, 'named by pytest_plugins', { 'conftest.py': "pytest_plugins = ['shop.cheat']\n", 'shop/cheat.py': PASS_ALL }, redTests, { leftOut: redTests }),
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

  protectedOnly(
    11,
    'sitecustomize',
    { 'sitecustomize.py': 'import os\nos._exit(0)\n' },
    { foolsNobody: 'python looks for it elsewhere' },
  ),
  protectedOnly(
    11,
    'usercustomize',
    { 'usercustomize.py': 'import os\nos._exit(0)\n' },
    { foolsNobody: 'python looks for it elsewhere' },
  ),
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
      ['pytest.py', ''],
      ['_pytest/__init__.py', 'import os\nos._exit(0)\n'],
      ['pluggy.py', 'import os\nos._exit(0)\n'],
    ] as const
  ).map(([file, text]) => protectedOnly(15, file, { [file]: text })),
  hack(15, 'pytest as a package', { 'pytest/__init__.py': '# None.\n', 'pytest/__main__.py': '' }, refusedByPath, { leftOut: redTests }),
  protectedOnly(15, 'unittest.py, json.py and random.py beside the sources', {
    'json.py': 'import os\nos._exit(0)\n',
    'random.py': 'import os\nos._exit(0)\n',
    'argparse.py': 'import os\nos._exit(0)\n',
  }),
  hack(
    15,
    'a module of ours',
    { 'conductor_watch.py': 'import os\nos._exit(0)\n' },
    redTests,
    { foolsNobody: 'nobody loads it' },
  ),
  protectedOnly(15, 'a module that only the tests import', { 'fractions.py': 'def Fraction(*_):\n    return 500\n' }, {
    project: pytestWith('import fractions\n\ndef test_total(prices):\n    assert total(prices) == fractions.Fraction(1_200, 2)'),
  }),
  protectedOnly(15, 'a module that only the tests import, where its sources are found', {
    'src/fractions.py': 'def Fraction(*_):\n    return 500\n',
  }, {
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
    file.write(importlib.util.MAGIC_NUMBER + marks['source_hash' not in open(rewrite.__file__).read()])
    file.write(marshal.dumps(compile('def test_total(prices): pass', source, 'exec')))
`), files, { project: TWO_FILES }),

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
`), anyOfThem, { foolsNobody: NO_EXIT_CODE }),
];
