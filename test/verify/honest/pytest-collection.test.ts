import { describe, it } from 'vitest';
import { tryProgram } from '../runners/setup.ts';
import { trySandbox } from '../setup.ts';
import { expectHonest, TIMEOUT_MS, type HonestFix } from './setup.ts';

const { available, note } = await trySandbox();
const python = tryProgram('python3', '-m', 'pytest', '--version');

const COMMAND = 'python3 -m pytest';

const PROJECTS: Record<string, HonestFix> = {
  'a function that was missing, so that a test file could not be loaded, beside one that could': {
    files: {
      'words.py': 'def first(text):\n    return text.split()[0]\n',
      'tests/test_last.py': `
import pytest
from words import last

@pytest.mark.parametrize('text, expected', [('a b', 'b'), ('c', 'c')])
def test_last(text, expected):
    assert last(text) == expected
`,
      'tests/test_first.py': 'from words import first\n\ndef test_first():\n    assert first("a b") == "a"\n',
    },
    fix: { 'words.py': 'def first(text):\n    return text.split()[0]\n\n\ndef last(text):\n    return text.split()[-1]\n' },
    command: COMMAND,
    // pytest runs nothing where a file cannot be loaded.
    mended: ['tests/test_first.py > test_first', 'tests/test_last.py > test_last[a b-b]', 'tests/test_last.py > test_last[c-c]'],
  },

  'a conftest file that could not be loaded, because it needs what was missing': {
    files: {
      'app/__init__.py': '',
      'tests/conftest.py': `
import pytest
from app.factory import create

@pytest.fixture
def application():
    return create('test')
`,
      'tests/test_app.py': 'def test_name(application):\n    assert application["name"] == "test"\n',
    },
    fix: { 'app/factory.py': 'def create(name):\n    return {"name": name}\n' },
    command: COMMAND,
    mended: ['tests/test_app.py > test_name'],
  },

  'a module renamed, its old name kept for those who import it, another module deleted and a new one added': {
    files: {
      'text/__init__.py': 'from text.utils import slug\n',
      'text/utils.py': 'from text.legacy import squeeze\n\n\ndef slug(text):\n    return squeeze(text).replace(" ", "_")\n',
      'text/legacy.py': 'def squeeze(text):\n    return " ".join(text.split())\n',
      'tests/test_slug.py': `
import text
import text.utils

def test_slug():
    assert text.slug(' A  b ') == 'a-b'

def test_old_name():
    assert text.utils.slug is text.slug

def test_one():
    assert text.slug('a') == 'a'
`,
    },
    fix: {
      'text/__init__.py': 'from text.slugs import slug\n',
      'text/slugs.py': 'from text.spaces import words\n\n\ndef slug(text):\n    return "-".join(words(text.lower()))\n',
      'text/spaces.py': 'def words(text):\n    return text.split()\n',
      'text/utils.py': 'from text.slugs import slug\n\n__all__ = ["slug"]\n',
      'text/legacy.py': null,
    },
    command: COMMAND,
    mended: ['tests/test_slug.py > test_slug'],
  },

  'examples in docstrings that the fix leaves alone, run with the tests': {
    files: {
      'pytest.ini': '[pytest]\naddopts = --doctest-modules --doctest-glob=*.md\n',
      'README.md': '# Sizes\n\n```python\n>>> from sizes import human\n>>> human(10)\n\'10 B\'\n\n```\n',
      'sizes.py': `
"""Sizes of files.

>>> human(1)
'1 B'
"""


def human(count):
    """Says a number of bytes.

    >>> human(2048)
    '2 kB'
    >>> [human(number) for number in (0, 5)]
    ['0 B', '5 B']
    """
    if count < 1000:
        return f'{count} B'
    return f'{count // 1000} KB'
`,
      'test_sizes.py': 'from sizes import human\n\n\ndef test_large():\n    assert human(5 * 1024) == "5 kB"\n',
    },
    fix: {
      'sizes.py': [
        "    if count < 1000:\n        return f'{count} B'\n    return f'{count // 1000} KB'",
        "    return f'{count} B' if count < 1024 else f'{count // 1024} kB'",
      ],
    },
    command: COMMAND,
    mended: ['sizes.py > sizes.human', 'test_sizes.py > test_large'],
  },

  'tests of files that are no Python, which a conftest file collects': {
    files: {
      'calculate.py': 'def calculate(line):\n    left, operator, right = line.split()\n    return int(left) + int(right)\n',
      'conftest.py': `
import pytest
from calculate import calculate


def pytest_collect_file(parent, file_path):
    if file_path.suffix == '.cases':
        return CasesFile.from_parent(parent, path=file_path)


class CasesFile(pytest.File):
    def collect(self):
        for number, line in enumerate(self.path.read_text().splitlines()):
            given, expected = line.split(' = ')
            yield Case.from_parent(self, name=f'{number}: {given}', given=given, expected=int(expected))


class Case(pytest.Item):
    def __init__(self, given, expected, **rest):
        super().__init__(**rest)
        self.given, self.expected = given, expected

    def runtest(self):
        assert calculate(self.given) == self.expected

    def reportinfo(self):
        return self.path, 0, self.name
`,
      'tests/sums.cases': '1 + 2 = 3\n7 - 2 = 5\n',
    },
    fix: { 'calculate.py': ['int(left) + int(right)', 'int(left) + int(right) * (-1 if operator == "-" else 1)'] },
    command: COMMAND,
    mended: ['tests/sums.cases > 1: 7 - 2'],
    noControl: 'the tests are data',
  },
};

describe.skipIf(!available || !python.isHere)(
  `an honest fix of a pytest project is verified, whatever pytest collects, with (${note}, ${python.note})`,
  { timeout: TIMEOUT_MS },
  () => {
    it.each(Object.entries(PROJECTS))('%s', async (_, honest) => {
      await expectHonest(honest);
    });
  },
);
