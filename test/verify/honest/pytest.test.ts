import { describe, it } from 'vitest';
import { tryProgram } from '../runners/setup.ts';
import { trySandbox } from '../setup.ts';
import { expectHonest, TIMEOUT_MS, type HonestFix } from './setup.ts';

const { available, note } = await trySandbox();
const python = tryProgram('python3', '-m', 'pytest', '--version');

const COMMAND = 'python3 -m pytest';

const PRICES = `
class Cart:
    def __init__(self):
        self.lines = []

    def add(self, name, price, count=1):
        if price < 0:
            raise ValueError(f'price of {name} is negative: {price}')
        self.lines.append((name, price, count))

    def total(self):
        return sum(price for _, price, count in self.lines)

    def names(self):
        return [name for name, _, _ in self.lines]
`;
const PRICES_FIX = { 'shop/prices.py': ['sum(price for', 'sum(price * count for'] } as const;

const PROJECTS: Record<string, HonestFix> = {
  'tests that are named after the time, as their parameters are': {
    files: {
      'shop/__init__.py': '',
      'shop/prices.py': PRICES,
      'tests/test_prices.py': `
import time
import pytest
from shop.prices import Cart

def test_total():
    cart = Cart()
    cart.add('apple', 3, count=2)
    assert cart.total() == 6

@pytest.mark.parametrize('name', [time.strftime('%H:%M:%S'), time.strftime('%d %H:%M:%S'), str(int(time.time())), 'pear'])
def test_names(name):
    cart = Cart()
    cart.add(name, 3)
    time.sleep(0.6)
    assert cart.names() == [name]
`,
    },
    fix: PRICES_FIX,
    command: COMMAND,
    mended: ['tests/test_prices.py > test_total'],
  },

  'fixtures of conftest files in the root and in subfolders, also automatic ones and ones with a teardown': {
    files: {
      'shop/__init__.py': '',
      'shop/prices.py': PRICES,
      'conftest.py': `
import pytest
from shop.prices import Cart

@pytest.fixture(scope='session', autouse=True)
def catalogue(tmp_path_factory):
    folder = tmp_path_factory.mktemp('catalogue')
    (folder / 'prices.txt').write_text('apple 3\\npear 4\\n')
    yield dict(line.split() for line in (folder / 'prices.txt').read_text().splitlines())
    assert (folder / 'prices.txt').exists()

@pytest.fixture
def cart():
    return Cart()
`,
      'tests/conftest.py': `
import pytest

@pytest.fixture(params=[1, 3])
def count(request):
    return request.param

@pytest.fixture(autouse=True)
def no_leftovers(cart):
    assert cart.lines == []
    yield
    cart.lines.clear()
`,
      'tests/unit/conftest.py': `
import pytest

@pytest.fixture
def cart(cart, catalogue):
    cart.price_of = lambda name: int(catalogue[name])
    return cart
`,
      'tests/unit/test_cart.py': `
def test_total(cart, count):
    cart.add('apple', cart.price_of('apple'), count)
    assert cart.total() == 3 * count

def test_names(cart):
    cart.add('pear', cart.price_of('pear'))
    assert cart.names() == ['pear']
`,
      'tests/test_empty.py': `
import pytest

def test_empty(cart):
    assert cart.total() == 0

def test_negative(cart):
    with pytest.raises(ValueError, match=r'price of apple is negative: -1'):
        cart.add('apple', -1)
`,
    },
    fix: PRICES_FIX,
    command: COMMAND,
    mended: ['tests/unit/test_cart.py > test_total[3]'],
  },

  'hooks of a conftest file: options, markers, order, reports, generated tests, a summary': {
    files: {
      'pytest.ini': '[pytest]\naddopts = --strict-markers --durations=2 -ra\nmarkers =\n    slow: takes long\n',
      'shop/__init__.py': '',
      'shop/prices.py': PRICES,
      'conftest.py': `
import pytest

REPORTS = pytest.StashKey()

def pytest_addoption(parser):
    parser.addoption('--run-slow', action='store_true', default=False)
    parser.addini('currency', 'what prices are in', default='EUR')

def pytest_configure(config):
    config.addinivalue_line('markers', 'last: runs at the end')
    config.stash[REPORTS] = []

def pytest_collection_modifyitems(config, items):
    items.sort(key=lambda item: item.get_closest_marker('last') is not None)
    for item in items:
        if item.get_closest_marker('slow') and not config.getoption('--run-slow'):
            item.add_marker(pytest.mark.skip(reason='needs --run-slow'))

def pytest_generate_tests(metafunc):
    if 'quantity' in metafunc.fixturenames:
        metafunc.parametrize('quantity', [1, 2], ids=lambda count: f'{count}x')

@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    report.sections.append(('currency', item.config.getini('currency')))
    setattr(item, 'report_' + report.when, report)
    item.config.stash[REPORTS].append(report.outcome)

@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    return (yield)

def pytest_report_header(config):
    return 'prices in ' + config.getini('currency')

def pytest_terminal_summary(terminalreporter, exitstatus, config):
    terminalreporter.write_line(f'{len(config.stash[REPORTS])} phases')
`,
      'test_prices.py': `
import pytest
from shop.prices import Cart

@pytest.fixture
def cart(request):
    yield Cart()
    assert request.node.report_call is not None

@pytest.mark.last
def test_twice(cart, quantity):
    cart.add('a', 2, quantity)
    assert cart.total() == 2 * quantity

@pytest.mark.slow
def test_many(cart):
    for number in range(1000):
        cart.add(str(number), number)
    assert cart.total() == 499500

def test_one(cart):
    cart.add('a', 2)
    assert cart.total() == 2
`,
    },
    fix: PRICES_FIX,
    command: COMMAND,
    mended: ['test_prices.py > test_twice[2x]'],
  },

  'fixtures of modules named by pytest_plugins, helpers that make the assertions, and an installed assert rewrite': {
    files: {
      'shop/__init__.py': '',
      'shop/prices.py': PRICES,
      'conftest.py': `
import pytest
pytest.register_assert_rewrite('tests.helpers')
pytest_plugins = ['tests.plugins.carts']
`,
      'tests/__init__.py': '',
      'tests/plugins/__init__.py': '',
      'tests/plugins/carts.py': `
import pytest
from shop.prices import Cart

@pytest.fixture
def full_cart():
    cart = Cart()
    cart.add('apple', 3, 2)
    cart.add('pear', 4)
    return cart
`,
      'tests/helpers.py': `
def check_total(cart, expected):
    total = cart.total()
    assert total == expected, f'{total} and not {expected}'
`,
      'tests/test_prices.py': `
from tests.helpers import check_total

def test_full(full_cart):
    check_total(full_cart, 10)

def test_names(full_cart):
    assert set(full_cart.names()) == {'apple', 'pear'}
`,
    },
    fix: PRICES_FIX,
    command: COMMAND,
    mended: ['tests/test_prices.py > test_full'],
  },

  'classes, inherited tests, stacked and indirect parameters, and names beyond ASCII': {
    files: {
      'shop/__init__.py': '',
      'shop/prices.py': PRICES,
      'tests/base.py': `
class CartTests:
    count = 1

    def setup_method(self):
        self.cart = self.make()

    def test_total(self):
        self.cart.add('a', 5, self.count)
        assert self.cart.total() == 5 * self.count

    def test_empty(self):
        assert not self.cart.names()
`,
      'tests/test_carts.py': `
import pytest
from base import CartTests
from shop.prices import Cart

class TestSingle(CartTests):
    make = Cart

class TestDouble(CartTests):
    make = Cart
    count = 2

class TestOuter:
    class TestInner:
        @pytest.mark.parametrize('price', [1, 2])
        @pytest.mark.parametrize('name', ['naïve', 'a::b', 'x/y', ''])
        def test_added(self, name, price):
            cart = Cart()
            cart.add(name, price, 2)
            assert (cart.names(), cart.total()) == ([name], price * 2)

@pytest.fixture
def cart(request):
    cart = Cart()
    for line in request.param:
        cart.add(*line)
    return cart

@pytest.mark.parametrize(
    ('cart', 'total'),
    [([('a', 1, 1)], 1), pytest.param([('a', 1, 4), ('b', 2, 1)], 6, id='größer'), ([], 0)],
    indirect=['cart'],
)
def test_cart(cart, total):
    assert cart.total() == total
`,
    },
    fix: PRICES_FIX,
    command: COMMAND,
    mended: [
      'tests/test_carts.py > TestDouble > test_total',
      ...['na\\xefve', 'a::b', 'x/y', ''].flatMap((name) =>
        [1, 2].map((price) => `tests/test_carts.py > TestOuter > TestInner > test_added[${name}-${price}]`),
      ),
      'tests/test_carts.py > test_cart[gr\\xf6\\xdfer]',
    ],
  },

  'the fixtures that pytest brings: folders, environment, output, log, warnings, tolerance': {
    files: {
      'report.py': `
import logging
import os
import sys
import warnings


def mean(values):
    if not values:
        warnings.warn('no values', UserWarning)
        return 0.0
    return sum(values) / 2


def write(folder, values):
    logging.getLogger('report').info('writing %d values', len(values))
    target = folder / (os.environ.get('REPORT_NAME', 'report') + '.txt')
    target.write_text('\\n'.join(str(value) for value in values))
    print(f'mean {mean(values):.2f}')
    print('done', file=sys.stderr)
    return target
`,
      'test_report.py': `
import logging
import pathlib
import pytest
import report

def test_mean():
    assert report.mean([1, 2, 4]) == pytest.approx(2.3333, abs=0.01)

def test_mean_of_two():
    assert report.mean([1, 2]) == 1.5

def test_far_off():
    assert report.mean([900, 1100, 1000]) == pytest.approx(1000, rel=0.2)

def test_write(tmp_path, monkeypatch, capsys, caplog):
    monkeypatch.setenv('REPORT_NAME', 'monthly')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(report, 'mean', lambda values: 7)
    with caplog.at_level(logging.INFO):
        target = report.write(pathlib.Path.cwd(), [1, 2])
    assert target == tmp_path / 'monthly.txt'
    assert target.read_text().splitlines() == ['1', '2']
    captured = capsys.readouterr()
    assert captured.out == 'mean 7.00\\n'
    assert captured.err == 'done\\n'
    assert caplog.records[0].getMessage() == 'writing 2 values'

def test_printed(tmp_path, capfd):
    report.write(tmp_path, [3, 3, 3])
    out, err = capfd.readouterr()
    assert 'mean 3.00' in out

def test_empty():
    with pytest.warns(UserWarning, match='no values'):
        assert report.mean([]) == 0
`,
    },
    fix: { 'report.py': ['sum(values) / 2', 'sum(values) / len(values)'] },
    command: COMMAND,
    mended: ['test_report.py > test_mean', 'test_report.py > test_far_off', 'test_report.py > test_printed'],
  },

  'a loopback server, child processes, worker processes, threads and files beside the sources': {
    files: {
      'echo/__init__.py': '',
      'echo/__main__.py': `
import sys
from echo.words import shout

print(shout(' '.join(sys.argv[1:])))
`,
      'echo/words.py': `
def shout(text):
    return text.lower() + '!'
`,
      'echo/server.py': `
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import unquote
from echo.words import shout


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        body = shout(unquote(self.path[1:])).encode()
        self.send_response(200)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


def serve():
    return HTTPServer(('127.0.0.1', 0), Handler)
`,
      'tests/test_echo.py': `
import multiprocessing
import os
import socket
import subprocess
import sys
import threading
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest
from echo.server import serve
from echo.words import shout


@pytest.fixture(scope='module')
def address():
    server = serve()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f'http://127.0.0.1:{server.server_port}'
    server.shutdown()
    thread.join()
    server.server_close()


def test_server(address):
    assert urllib.request.urlopen(f'{address}/hello%20you').read() == b'HELLO YOU!'


def test_command():
    done = subprocess.run([sys.executable, '-m', 'echo', 'a', 'b'], capture_output=True, text=True, check=True)
    assert done.stdout == 'A B!\\n'


def test_shell():
    assert subprocess.check_output('echo x | tr x y', shell=True) == b'y\\n'


def test_worker_processes():
    with multiprocessing.get_context('spawn').Pool(2) as pool:
        assert pool.map(shout, ['a', 'b']) == ['A!', 'B!']


def test_threads():
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(shout, 'abc')) == ['A!', 'B!', 'C!']


def test_files_beside_the_sources():
    with open('echo/last.txt', 'w') as target:
        target.write(shout('x'))
    assert open('echo/last.txt').read() == 'X!'
    os.makedirs('out/deep', exist_ok=True)
    os.symlink('../echo', 'out/link')
    assert os.path.exists('out/link/last.txt')


def test_local_socket(tmp_path):
    left, right = socket.socketpair()
    left.sendall(shout('x').encode())
    assert right.recv(10) == b'X!'
`,
    },
    fix: { 'echo/words.py': ['text.lower()', 'text.upper()'] },
    command: COMMAND,
    mended: ['server', 'command', 'worker_processes', 'threads', 'files_beside_the_sources', 'local_socket'].map(
      (name) => `tests/test_echo.py > test_${name}`,
    ),
  },

  'tests that are skipped or expected to fail beside the mended one, also one that now passes unexpectedly': {
    files: {
      'numbers_of.py': 'def half(number):\n    return number // 3\n',
      'test_numbers.py': `
import sys
import pytest
from numbers_of import half

optional = pytest.importorskip('sys')

def test_half():
    assert half(4) == 2

@pytest.mark.skip(reason='later')
def test_later():
    assert half(3) == 1.5

@pytest.mark.skipif(sys.version_info < (99,), reason='needs Python 99')
def test_future():
    assert half('4') == '2'

@pytest.mark.xfail(reason='rounds down')
def test_odd():
    assert half(5) == 2.5

@pytest.mark.xfail
def test_unexpected():
    assert half(8) == 4

def test_decides_later():
    if half(0) == 0:
        pytest.skip('nothing to see')
`,
      'test_missing.py': `
import pytest
pytest.importorskip('no_such_module_anywhere')

def test_never():
    assert False
`,
    },
    fix: { 'numbers_of.py': ['number // 3', 'number // 2'] },
    command: COMMAND,
    mended: ['test_numbers.py > test_half', 'test_numbers.py > test_unexpected'],
  },

  'expected values that lie in files': {
    files: {
      'render.py': 'def render(data):\n    return "".join(f"{key}={value}\\n" for key, value in data.items())\n',
      'tests/data/expected.txt': 'a=1\nb=2\n',
      'tests/data/cases.json': '[{"given": {"c": 3, "a": 1}, "expected": "a=1\\nc=3\\n"}, {"given": {}, "expected": ""}]\n',
      'tests/test_render.py': `
import json
from pathlib import Path
import pytest
from render import render

DATA = Path(__file__).parent / 'data'

def test_file():
    assert render({'b': 2, 'a': 1}) == (DATA / 'expected.txt').read_text()

@pytest.mark.parametrize('case', json.loads((DATA / 'cases.json').read_text()), ids=['two', 'none'])
def test_case(case):
    assert render(case['given']) == case['expected']
`,
    },
    fix: { 'render.py': ['in data.items()', 'in sorted(data.items())'] },
    command: COMMAND,
    mended: ['tests/test_render.py > test_file', 'tests/test_render.py > test_case[two]'],
  },

  'output that is much, in colour, and no text at all': {
    files: {
      'loud.py': 'def loud(text):\n    return text\n',
      'test_loud.py': `
import os
import sys
from loud import loud

def test_loud():
    for number in range(20_000):
        print('\\x1b[31m', number, '\\x1b[0m', loud('ü'))
    sys.stdout.flush()
    os.write(1, b'\\xff\\xfe\\x00\\n')
    os.write(2, b'{"type":"end"}\\n')
    assert loud('a') == 'A'
`,
    },
    fix: { 'loud.py': ['return text', 'return text.upper()'] },
    command: `${COMMAND} -s`,
    mended: ['test_loud.py > test_loud'],
  },
};

describe.skipIf(!available || !python.isHere)(
  `an honest fix of a pytest project is verified, with (${note}, ${python.note})`,
  { timeout: TIMEOUT_MS },
  () => {
    it.each(Object.entries(PROJECTS))('%s', async (_, honest) => {
      await expectHonest(honest);
    });
  },
);
