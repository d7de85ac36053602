import { execFileSync } from 'node:child_process';
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { makeScratch, trySandbox } from '../setup.ts';
import { installPackages, removeAllButPackages } from './python-packages.ts';
import { expectVerified, judgeFix, TIMEOUT_MS, type HonestFix } from './setup.ts';

const PACKAGES = [
  ...['pytest', 'pytest-asyncio', 'pytest-mock', 'pytest-xdist', 'pytest-cov', 'pytest-randomly', 'pytest-rerunfailures'],
  ...['freezegun', 'setuptools>=70.1'],
];

const { available, note } = await trySandbox();
const scratch = await makeScratch();
/** One workspace, whose environment stays while the projects in it come and go: installing it takes longer than all the rest. */
const workspace = path.join(scratch.folder, 'project');
/** Pytest imports all of it at each start, which takes longer than everything else there, so that only its own project has it. */
const hypothesis = path.join(scratch.folder, 'hypothesis');
const environment = await (available ? installPackages(workspace, PACKAGES, { hypothesis }) : { isHere: false, note });

afterAll(async () => await scratch[Symbol.asyncDispose]());

const PROJECTS: Record<string, HonestFix> = {
  'pytest-asyncio: marked and automatic tests, asynchronous fixtures, tasks, timeouts': {
    files: {
      'pyproject.toml': '[tool.pytest.ini_options]\nasyncio_mode = "auto"\nasyncio_default_fixture_loop_scope = "function"\n',
      'queue_of.py': `
import asyncio


class Collector:
    def __init__(self):
        self.items = []
        self.ready = asyncio.Event()

    async def add(self, item):
        await asyncio.sleep(0)
        self.items.append(item)

    async def take(self):
        await self.ready.wait()
        return self.items.pop()
`,
      'tests/test_queue.py': `
import asyncio
import pytest
from queue_of import Collector

@pytest.fixture
async def collector():
    collector = Collector()
    yield collector
    assert collector.items == []

@pytest.mark.asyncio
async def test_take(collector):
    async with asyncio.timeout(10) if hasattr(asyncio, 'timeout') else asyncio.Lock():
        await collector.add('a')
        collector.ready.set()
        assert await collector.take() == 'a'

async def test_order(collector):
    await asyncio.gather(*(collector.add(item) for item in 'abc'))
    collector.ready.set()
    assert [await collector.take() for _ in range(3)] == ['a', 'b', 'c']

class TestWaiting:
    async def test_waits(self, collector):
        taking = asyncio.create_task(collector.take())
        await asyncio.sleep(0)
        assert not taking.done()
        await collector.add('x')
        collector.ready.set()
        assert await taking == 'x'
`,
    },
    fix: { 'queue_of.py': ['self.items.pop()', 'self.items.pop(0)'] },
    command: 'python3 -m pytest',
    mended: ['tests/test_queue.py > test_order'],
  },

  'pytest-mock: spies, stubs, patched names': {
    files: {
      'setup.cfg': '[tool:pytest]\ntestpaths = tests\npythonpath = .\n',
      'mailer.py': `
import smtplib


def send(to, text):
    with smtplib.SMTP('localhost') as server:
        server.sendmail('us', to, text)


def send_all(addresses, text):
    for address in set(addresses):
        send(address, text)
`,
      'tests/test_mailer.py': `
import mailer

def test_send(mocker):
    server = mocker.patch('smtplib.SMTP').return_value.__enter__.return_value
    mailer.send('a', 'hello')
    server.sendmail.assert_called_once_with('us', 'a', 'hello')

def test_order(mocker):
    send = mocker.patch.object(mailer, 'send')
    names = [f'name {number}' for number in range(50)]
    mailer.send_all(names + names, 'x')
    assert send.call_args_list == [mocker.call(name, 'x') for name in names]

def test_spy(mocker):
    mocker.patch('smtplib.SMTP')
    spy = mocker.spy(mailer, 'send')
    mailer.send_all(['a'], 'x')
    spy.assert_called_once()
`,
    },
    fix: { 'mailer.py': ['set(addresses)', 'dict.fromkeys(addresses)'] },
    command: 'pytest',
    mended: ['tests/test_mailer.py > test_order'],
  },

  'pytest-xdist: tests in several processes, with a fixture for each, all of them in spite of -x': {
    files: {
      'pytest.ini': '[pytest]\naddopts = -n 2 --dist loadscope -x\n',
      'conftest.py': `
import pytest

@pytest.fixture(scope='session')
def database(worker_id, tmp_path_factory):
    return tmp_path_factory.mktemp(f'database-{worker_id}') / 'numbers.txt'
`,
      'primes.py': 'def is_prime(number):\n    return all(number % divisor for divisor in range(2, number))\n',
      'test_primes.py': `
import pytest
from primes import is_prime

@pytest.mark.parametrize('number', range(12))
def test_number(number, database):
    database.write_text(str(number))
    assert is_prime(int(database.read_text())) == (number in (2, 3, 5, 7, 11))
`,
      'test_more.py': 'from primes import is_prime\n\ndef test_large():\n    assert is_prime(97) and not is_prime(91)\n',
    },
    fix: { 'primes.py': ['all(', 'number > 1 and all('] },
    command: 'python3 -m pytest -p no:randomly',
    mended: ['test_primes.py > test_number[0]', 'test_primes.py > test_number[1]'],
  },

  'pytest-cov: coverage with a limit, also of child processes': {
    files: {
      'pyproject.toml': `
[tool.pytest.ini_options]
addopts = "--cov=src/shapes --cov-branch --cov-report=term-missing --cov-report=xml --cov-fail-under=80"
pythonpath = ["src"]
`,
      '.coveragerc': '[run]\nparallel = true\n',
      'src/shapes/__init__.py': 'def area(width, height):\n    if width < 0:\n        raise ValueError(width)\n    return width + height\n',
      'tests/test_shapes.py': `
import subprocess
import sys
import pytest
from shapes import area

def test_area():
    assert area(2, 3) == 6

def test_negative():
    with pytest.raises(ValueError):
        area(-1, 1)

def test_child():
    code = 'import sys; sys.path.insert(0, "src"); from shapes import area; print(area(3, 3))'
    assert subprocess.check_output([sys.executable, '-c', code]) == b'9\\n'
`,
    },
    fix: { 'src/shapes/__init__.py': ['width + height', 'width * height'] },
    command: 'python3 -m pytest',
    mended: ['tests/test_shapes.py > test_area', 'tests/test_shapes.py > test_child'],
  },

  'freezegun: frozen time, by decorator, context and tick': {
    files: {
      'dates.py': `
import datetime
import time


def age(birthday):
    today = datetime.date.today()
    return today.year - birthday.year


def stamp():
    return time.strftime('%Y-%m-%d', time.gmtime())
`,
      'test_dates.py': `
import datetime
import pytest
from freezegun import freeze_time
from dates import age, stamp

@freeze_time('2024-03-01')
@pytest.mark.parametrize('born, years', [((2000, 2, 29), 24), ((2000, 3, 2), 23), ((1999, 12, 31), 24)])
def test_age(born, years):
    assert age(datetime.date(*born)) == years

def test_stamp():
    with freeze_time('2020-01-01 23:59:59') as frozen:
        assert stamp() == '2020-01-01'
        frozen.tick(datetime.timedelta(seconds=2))
        assert stamp() == '2020-01-02'
`,
    },
    fix: { 'dates.py': ['today.year - birthday.year', 'today.year - birthday.year - ((today.month, today.day) < (birthday.month, birthday.day))'] },
    command: 'python3 -m pytest',
    mended: ['test_dates.py > test_age[born1-23]', 'test_dates.py > test_age[born2-24]'],
  },

  'pytest-rerunfailures: a test that is tried again, beside the mended one': {
    files: {
      'pytest.ini': '[pytest]\naddopts = --reruns 3\n',
      'tries.py': 'def twice(number):\n    return number\n',
      'test_tries.py': `
import pathlib
from tries import twice

def test_twice():
    assert twice(2) == 4

def test_at_the_second_try(request):
    marker = pathlib.Path('tried')
    if not marker.exists():
        marker.touch()
        assert False, 'not yet'
    assert twice(0) == 0
`,
    },
    fix: { 'tries.py': ['return number', 'return number * 2'] },
    command: 'python3 -m pytest',
    mended: ['test_tries.py > test_twice'],
  },

  'the environment itself, named by the command': {
    files: {
      'half.py': 'def half(number):\n    return number / 3\n',
      'test_half.py': 'from half import half\n\ndef test_half():\n    assert half(4) == 2\n',
    },
    fix: { 'half.py': ['number / 3', 'number / 2'] },
    command: '.venv/bin/python -m pytest',
    mended: ['test_half.py > test_half'],
  },
};

/** With properties, which have no expected value, beside examples. */
const HYPOTHESIS: HonestFix = {
  files: {
    'runs_of.py': `
def encode(text):
    runs = []
    for character in text:
        if runs and runs[-1][0] == character:
            runs[-1][1] += 1
        else:
            runs.append([character, 1])
    return runs


def decode(runs):
    return ''.join(character for character, _ in runs)
`,
    'test_codec.py': `
from hypothesis import example, given, settings, strategies as st
from runs_of import decode, encode

@given(st.text(alphabet='ab', max_size=20))
@example('aab')
@settings(max_examples=50)
def test_round_trip(text):
    assert decode(encode(text)) == text

@given(st.text())
def test_runs(text):
    runs = encode(text)
    assert all(count >= 1 for _, count in runs)
    assert all(one[0] != other[0] for one, other in zip(runs, runs[1:]))

@given(st.lists(st.tuples(st.sampled_from('xyz'), st.integers(1, 5))))
def test_length(runs):
    assert len(decode(runs)) == sum(count for _, count in runs)
`,
  },
  fix: { 'runs_of.py': ['character for character, _ in runs', 'character * count for character, count in runs'] },
  command: 'python3 -m pytest',
  mended: ['test_codec.py > test_round_trip', 'test_codec.py > test_length'],
};

/** Installed with pip from the workspace itself. */
const EDITABLE: Record<string, HonestFix> = {
  'a package below src': {
    files: {
      'pyproject.toml': '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n[project]\nname = "acme-words"\nversion = "1.0"\n',
      'src/acme_words/__init__.py': 'from acme_words.count import count\n',
      'src/acme_words/count.py': 'def count(text):\n    return len(text.split(" "))\n',
      'tests/test_count.py': 'import acme_words\n\ndef test_count():\n    assert acme_words.count("a  b ") == 2\n\ndef test_one():\n    assert acme_words.count("a") == 1\n',
    },
    fix: { 'src/acme_words/count.py': ['text.split(" ")', 'text.split()'] },
    command: 'pytest --import-mode=importlib',
    mended: ['tests/test_count.py > test_count'],
  },

  'a package that lies in another folder than its name says, with a command of its own': {
    files: {
      'setup.py': `
from setuptools import setup
setup(name='acme-tool', version='1.0', packages=['acme_tool'], package_dir={'acme_tool': 'python'},
      entry_points={'console_scripts': ['acme-tool = acme_tool:main']})
`,
      'python/__init__.py': 'import sys\n\ndef main():\n    print(sum(int(word) for word in sys.argv[2:]))\n',
      'tests/test_tool.py': `
import subprocess
import sys

def test_command():
    done = subprocess.run(['acme-tool', '1', '2'], capture_output=True, text=True)
    assert done.stdout == '3\\n', done.stderr

def test_module():
    assert subprocess.check_output([sys.executable, '-c', 'import acme_tool; acme_tool.main()', '4', '5']) == b'9\\n'
`,
    },
    fix: { 'python/__init__.py': ['sys.argv[2:]', 'sys.argv[1:]'] },
    command: 'pytest',
    mended: ['tests/test_tool.py > test_command', 'tests/test_tool.py > test_module'],
  },

  'two packages of one workspace, one of which needs the other': {
    files: {
      'packages/core/pyproject.toml': '[project]\nname = "acme-core"\nversion = "1.0"\n[tool.setuptools.packages.find]\nwhere = ["src"]\n',
      'packages/core/src/acme/core/__init__.py': 'def double(number):\n    return number + 2\n',
      'packages/core/tests/test_core.py': 'from acme.core import double\n\ndef test_double():\n    assert double(2) == 4\n',
      'packages/app/pyproject.toml': '[project]\nname = "acme-app"\nversion = "1.0"\n[tool.setuptools.packages.find]\nwhere = ["src"]\n',
      'packages/app/src/acme/app/__init__.py': 'from acme.core import double\n\ndef show(number):\n    return f"twice {number} is {double(number)}"\n',
      'packages/app/tests/test_app.py': 'from acme.app import show\n\ndef test_show():\n    assert show(5) == "twice 5 is 10"\n',
    },
    fix: { 'packages/core/src/acme/core/__init__.py': ['number + 2', 'number * 2'] },
    command: 'cd packages/app && pytest',
    mended: ['packages/app/tests/test_app.py > test_show'],
  },
};

describe.skipIf(!available || !environment.isHere)(
  `an honest fix is verified with plugins of pytest (${note}, ${environment.note})`,
  { timeout: TIMEOUT_MS },
  () => {
    it.each(Object.entries(PROJECTS))('%s', async (_, honest) => {
      await removeAllButPackages(workspace);
      expectVerified(await judgeFix(scratch, honest), honest);
    });

    it.each(Object.entries(EDITABLE))('pip install -e: %s', async (_, honest) => {
      await removeAllButPackages(workspace);
      await scratch.project(honest.files);
      const manifests = Object.keys(honest.files).filter((file) => /(^|\/)(pyproject\.toml|setup\.py)$/.test(file));
      for (const manifest of manifests) {
        const install = ['-m', 'pip', 'install', '--quiet', '--no-build-isolation', '--no-deps', '-e', `./${path.dirname(manifest)}`];
        execFileSync('.venv/bin/python', install, { cwd: workspace, stdio: 'ignore' });
      }
      expect(manifests).not.toEqual([]);
      expectVerified(await judgeFix(scratch, honest), honest);
    });

    it('hypothesis: properties, which have no expected value, beside examples', async () => {
      await removeAllButPackages(workspace);
      const packages = execFileSync('.venv/bin/python', ['-c', 'import sysconfig; print(sysconfig.get_path("purelib"))'], { cwd: workspace, encoding: 'utf8' });
      await cp(hypothesis, packages.trim(), { recursive: true });
      expectVerified(await judgeFix(scratch, HYPOTHESIS), HYPOTHESIS);
    });
  },
);
