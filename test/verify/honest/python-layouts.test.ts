import { readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'vitest';
import { tryProgram } from '../runners/setup.ts';
import { trySandbox } from '../setup.ts';
import { expectHonest, TIMEOUT_MS, type HonestFix } from './setup.ts';

const { available, note } = await trySandbox();
const python = tryProgram('python3', '--version');

const MEDIAN = 'def median(numbers):\n    numbers = sorted(numbers)\n    return numbers[len(numbers) // 2]\n';
const MEDIAN_FIX = [
  '    return numbers[len(numbers) // 2]',
  '    half = len(numbers) // 2\n    return numbers[half] if len(numbers) % 2 else (numbers[half - 1] + numbers[half]) / 2',
] as const;
const MEDIAN_TEST = `
import unittest
from stats.median import median


class MedianTest(unittest.TestCase):
    def test_odd(self):
        self.assertEqual(median([3, 1, 2]), 2)

    def test_even(self):
        self.assertEqual(median([4, 1, 3, 2]), 2.5)
`;

const UNITTEST: Record<string, HonestFix> = {
  'fixtures of module, class and test, subtests, asynchronous tests, logs, mocks and skipped ones': {
    files: {
      'account.py': `
import asyncio
import logging

log = logging.getLogger('account')


class Account:
    def __init__(self, clock):
        self.clock = clock
        self.balance = 0
        self.history = []

    def deposit(self, amount):
        if amount <= 0:
            log.warning('refused %s', amount)
            raise ValueError('amount must be positive')
        self.balance = amount
        self.history.append((self.clock(), amount))

    async def deposit_later(self, amount):
        await asyncio.sleep(0)
        self.deposit(amount)
        return self.balance
`,
      'tests/__init__.py': '',
      'tests/test_account.py': `
import unittest
from unittest import mock
from account import Account

opened = []


def setUpModule():
    opened.append('module')


def tearDownModule():
    opened.remove('module')


class Base(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.clock = mock.Mock(side_effect=range(1000))
        opened.append(cls.__name__)

    @classmethod
    def tearDownClass(cls):
        opened.remove(cls.__name__)

    def setUp(self):
        self.account = Account(self.clock)
        self.addCleanup(self.account.history.clear)

    def test_starts_empty(self):
        self.assertEqual(self.account.balance, 0)


class DepositTest(Base):
    def test_several(self):
        for count in (1, 2, 3):
            with self.subTest(count=count):
                account = Account(self.clock)
                for _ in range(count):
                    account.deposit(10)
                self.assertEqual(account.balance, 10 * count)

    def test_refused(self):
        with self.assertLogs('account', 'WARNING') as logs, self.assertRaisesRegex(ValueError, 'positive'):
            self.account.deposit(0)
        self.assertIn('refused 0', logs.output[0])

    def test_history(self):
        self.account.deposit(5)
        self.account.deposit(6)
        self.assertEqual([amount for _, amount in self.account.history], [5, 6])
        self.assertAlmostEqual(self.account.balance, 11.0, delta=0.5)

    @mock.patch('account.log')
    def test_quiet(self, log):
        self.account.deposit(1)
        log.warning.assert_not_called()

    @unittest.skip('later')
    def test_withdraw(self):
        self.fail()

    @unittest.expectedFailure
    def test_overflow(self):
        self.account.deposit('much')


class LaterTest(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.account = Account(lambda: 0)

    async def test_later(self):
        self.assertEqual(await self.account.deposit_later(3), 3)
        self.assertEqual(await self.account.deposit_later(3), 6)


@unittest.skipUnless(hasattr(unittest, 'NoSuchThing'), 'needs NoSuchThing')
class NeverTest(Base):
    def test_never(self):
        self.fail()
`,
    },
    fix: { 'account.py': ['self.balance = amount', 'self.balance += amount'] },
    command: 'python3 -m unittest -v',
    mended: ['DepositTest > test_several', 'DepositTest > test_history', 'LaterTest > test_later'].map(
      (name) => `tests/test_account.py > ${name}`,
    ),
  },

  'examples in docstrings that load_tests adds': {
    files: {
      'words.py': 'def plural(word):\n    """\n    >>> plural("cat")\n    \'cats\'\n    """\n    return word + "s"\n',
      'test_words.py': `
import doctest
import unittest
import words


def load_tests(loader, tests, ignore):
    tests.addTests(doctest.DocTestSuite(words))
    return tests


class PluralTest(unittest.TestCase):
    def test_bus(self):
        self.assertEqual(words.plural('bus'), 'buses')
`,
    },
    fix: { 'words.py': ['return word + "s"', 'return word + ("es" if word.endswith("s") else "s")'] },
    command: 'python3 -m unittest',
    mended: ['test_words.py > PluralTest > test_bus'],
  },

  'a module that is missing, whose tests are found below src': {
    files: { 'src/stats/__init__.py': '', 'src/tests/__init__.py': '', 'src/tests/test_median.py': MEDIAN_TEST },
    fix: { 'src/stats/median.py': MEDIAN.replace(...MEDIAN_FIX) },
    command: 'cd src && python3 -m unittest discover -s tests -t .',
    mended: ['test_odd', 'test_even'].map((name) => `src/tests/test_median.py > MedianTest > ${name}`),
  },

  'tests that are named one by one': {
    files: { 'stats/median.py': MEDIAN, 'checks/median_checks.py': MEDIAN_TEST },
    fix: { 'stats/median.py': MEDIAN_FIX },
    command: 'python3 -m unittest -q checks.median_checks.MedianTest',
    mended: ['checks/median_checks.py > MedianTest > test_even'],
  },

  'Windows line ends, a tab, a byte order mark, and no newline at the end': {
    files: {
      'stats/median.py': MEDIAN.replaceAll('\n', '\r\n').replace(/\r\n$/, ''),
      'test_median.py': `\uFEFF${MEDIAN_TEST}`.replaceAll('\n', '\r\n').replaceAll('    ', '\t'),
    },
    fix: { 'stats/median.py': MEDIAN_FIX },
    command: 'python3 -m unittest',
    mended: ['test_median.py > MedianTest > test_even'],
  },

  'names of files, folders and tests beyond ASCII, and with spaces': {
    files: {
      'größe und maß/stats/median.py': MEDIAN,
      'größe und maß/test_größe.py': MEDIAN_TEST.replaceAll('test_even', 'test_gerade_größe'),
      'größe und maß/日本.txt': '中',
    },
    fix: { 'größe und maß/stats/median.py': MEDIAN_FIX },
    command: 'cd "größe und maß" && python3 -m unittest',
    mended: ['größe und maß/test_größe.py > MedianTest > test_gerade_größe'],
  },
};

describe.skipIf(!available || !python.isHere)(
  `an honest fix of a unittest project is verified, with (${note}, ${python.note})`,
  { timeout: TIMEOUT_MS },
  () => {
    it.each(Object.entries(UNITTEST))('%s', async (_, honest) => {
      await expectHonest(honest);
    });
  },
);

/** The Pythons that pyenv keeps below the home folder, from the oldest that is supported. */
function pyenvPythons(): readonly string[] {
  const folder = path.join(homedir(), '.pyenv/versions');
  try {
    const versions = readdirSync(folder).filter((name) => /^3\.(?:[89]|\d\d)\.\d+$/.test(name));
    return versions.sort(new Intl.Collator('en', { numeric: true }).compare).map((name) => path.join(folder, name, 'bin/python3'));
  } catch {
    return [];
  }
}

const pythons = pyenvPythons();

describe.skipIf(!available || pythons.length === 0)(
  `an honest fix is verified with a Python of pyenv (${pythons.length === 0 ? 'not tried, none is here' : note})`,
  { timeout: TIMEOUT_MS },
  () => {
    it.each([...new Set([pythons.at(0), pythons.at(-1)])])('%s', async (program) => {
      const files = { 'stats/median.py': MEDIAN, 'test_median.py': MEDIAN_TEST };
      const mended = ['test_median.py > MedianTest > test_even'];
      await expectHonest({ files, fix: { 'stats/median.py': MEDIAN_FIX }, command: `${program} -m unittest`, mended });
    });
  },
);
