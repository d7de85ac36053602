import { describe, it } from 'vitest';
import { tryProgram } from '../runners/setup.ts';
import { trySandbox } from '../setup.ts';
import { expectHonest, TIMEOUT_MS, type HonestFix } from './setup.ts';

const { available, note } = await trySandbox();
const python = tryProgram('python3', '-m', 'pytest', '--version');

const BROKEN = 'import warnings\n\n\ndef twice(value):\n    return value\n\n\ndef half(number):\n    return number // 2\n';
const CALC = `
import warnings


def twice(value):
    return value * 2


def half(number):
    if number == 0:
        warnings.warn('zero', UserWarning)
    if number % 2:
        raise ValueError(f'odd: {number}')
    return number // 2
`;

/** Tests of which an expectation, altered in a simple way, would hold all the same, or would never be come to. */
const TESTS = `
import asyncio
import contextlib
import re
import threading
import warnings
from unittest import mock

import pytest
from calc import half, twice
from helpers import CheckCase, Vector, check, check_text, checks, there_and_back

EXPECTED = {'one': 2, 'two': 4}


class Anything:
    def __eq__(self, other):
        return True


class Even:
    def __eq__(self, other):
        return other % 2 == 0


def test_values_that_equal_everything():
    assert mock.ANY == twice(1)
    assert [twice(2), 'x', Anything()] == [4, mock.ANY, 5]
    assert twice(1) == Even()


def test_a_list_with_any():
    assert {'id': mock.ANY, 'value': twice(3)} == {'id': 1, 'value': 6}


def test_returns_early():
    if twice(1) == 2:
        assert twice(2) == 4
        return
    assert False


def test_expects_an_assertion_to_fail():
    with pytest.raises(AssertionError):
        assert twice(1) == 1
    with pytest.raises(AssertionError, match='not 5'):
        check(twice(1), 5)


def test_catches_an_assertion():
    try:
        assert twice(1) == 1, 'one'
    except AssertionError as error:
        assert str(error).startswith('one')
    else:
        raise RuntimeError('one is not twice one')


def test_suppresses_an_assertion():
    with contextlib.suppress(AssertionError):
        assert twice(1) == 5
    assert twice(1) == 2


def test_tries_until_it_holds():
    for attempt in range(10):
        try:
            assert twice(attempt) == 18
            break
        except AssertionError:
            continue
    else:
        pytest.fail('never')


def test_side_effects():
    numbers = iter([twice(number) for number in (1, 2, 3)])
    assert next(numbers) == 2
    assert next(numbers) == 4, next(numbers)
    assert (last := next(numbers)) > 5
    assert last == 6 and not list(numbers)


def test_in_no_iteration():
    for number in range(twice(0)):
        assert number == -1
    while twice(1) == 3:
        assert False
    assert twice(5) == 10


def test_without_an_assertion():
    {4: 'four'}[twice(2)]


def test_fails_by_hand():
    if twice(3) != 6:
        pytest.fail('not six')


def test_raises_by_hand():
    if twice(3) != 6:
        raise Exception('not six')


class TestByMethods(CheckCase):
    def test_methods_of_a_class_of_another_file(self):
        self.check_twice(
            'ab',
            self.dedent('''
                abab
            '''),
        )


def test_names_given_to_a_helper():
    expected = 'two two '
    check_text(twice('two '), expected)
    for given, wanted in [(1, 2), (5, 10)]:
        check(twice(given), wanted)


def test_there_and_back():
    number = 4
    check(half(twice(number)), number)
    there_and_back(6)
    assert twice(1) == 2


def test_error_or_else():
    try:
        half(twice(1) + 1)
    except ValueError as error:
        assert str(error) == 'odd: 3'
    else:
        raise AssertionError('no error')
    try:
        half(twice(2) + 1)
        pytest.fail('no error')
    except ValueError as error:
        assert str(error) == 'odd: 5'


def test_by_a_helper():
    check(twice(2), 4)
    checks[0](twice(1))


def test_in_a_thread():
    found = []

    def work():
        assert twice(1) == 2
        found.append(twice(2))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [4]


def test_in_a_coroutine():
    async def run():
        await asyncio.sleep(0)
        assert twice(1) == 2
        return twice(2)

    assert asyncio.run(run()) == 4


@pytest.mark.parametrize(('number', 'expected'), [(number, number * 2) for number in (1, 2)])
def test_computed(number, expected):
    assert twice(number) == expected


@pytest.mark.parametrize('name', list(EXPECTED))
def test_of_a_table(name):
    assert twice(['one', 'two'].index(name) + 1) == EXPECTED[name]


def test_both_sides():
    assert twice(twice(1)) - twice(1) == twice(1)


def test_round_trip():
    data = [2, 4]
    assert [twice(half(number)) for number in data] == data


def test_tolerance():
    assert twice(100) == pytest.approx(210, rel=0.2)
    assert twice(1.5) == pytest.approx(3, abs=1)


def test_ranges():
    assert 150 < twice(100) < 1e9
    assert twice(1) in (2, 3)
    assert {twice(1)} <= {2, 3}
    assert twice(1) != 1
    assert not twice(0)
    assert twice(1) - 1


def test_texts():
    assert re.search(r'\\d+', f'is {twice(2)}').group() == '4'
    assert 'a' in twice('a')
    assert twice('ab').endswith('bab')
    assert twice('') == ''


def test_all():
    assert all(twice(number) == number + number for number in range(1, 4))
    assert isinstance(twice('a'), str)
    assert twice(None) is None if twice is None else True


def test_vectors():
    vector = Vector(twice(number) for number in (1, 2))
    assert (vector == [2, 4]).all()
    assert all(vector == [2, 4])


def test_over_several_lines():
    assert (
        twice(1)
        == 2
    ), (
        'not two'
    )
    assert twice(2) \\
        == 4; assert twice(3) == 6


def test_mocks():
    called = mock.Mock()
    called(twice(1), mock.sentinel.x)
    called.assert_called_once_with(2, mock.ANY)
    called.assert_called()
    assert called.call_args == mock.call(mock.ANY, mock.sentinel.x)
    assert called.mock_calls == [mock.call(2, mock.ANY)]


def test_errors():
    with pytest.raises(ValueError, match=r'^odd: \\d$') as info:
        half(3)
    assert info.value.args == ('odd: 3',)
    with pytest.raises((ValueError, TypeError)):
        half(5)
    pytest.raises(ValueError, half, 7)


def test_warnings():
    with pytest.warns(UserWarning, match='zero'):
        half(0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        half(0)
    assert [str(warning.message) for warning in caught] == ['zero']


def test_output(capsys, tmp_path):
    print(twice(1))
    (tmp_path / 'a').write_text(str(twice(1)))
    assert capsys.readouterr().out.strip() == (tmp_path / 'a').read_text() == '2'


@pytest.fixture
def doubled():
    value = twice(1)
    yield value
    assert value == 2


def test_a_fixture(doubled):
    assert doubled == 2


class TestNested:
    expected = 4

    @staticmethod
    def helper(value):
        assert value == TestNested.expected

    def test_of_the_class(self):
        self.helper(twice(2))

`;

const PYTEST: HonestFix = {
  files: {
    'calc.py': BROKEN,
    'helpers.py': `
import textwrap

from calc import half, twice


def check(found, expected):
    assert found == expected, f'{found} is not {expected}'


checks = [lambda found: check(found, 2)]


def check_text(found, expected):
    wanted = expected
    assert found == wanted


def there_and_back(number):
    assert half(twice(number)) == number


class CheckCase:
    def dedent(self, text):
        return textwrap.dedent(text).strip()

    def check_twice(self, given, expected):
        assert twice(given) == expected


class Vector(list):
    """As an array of numbers compares: item by item, and with no truth of its own."""

    def __eq__(self, other):
        return Vector(one == two for one, two in zip(self, other))

    def all(self):
        return all(list.__iter__(self))

    def __bool__(self):
        raise ValueError('the truth of several items is ambiguous')
`,
    'test_calc.py': TESTS,
  },
  fix: { 'calc.py': CALC },
  command: 'python3 -m pytest',
  mended: [...TESTS.matchAll(/^( *)def (test_\w+)/gm)]
    .map(([, indent, name = '']) => (indent === '' ? name : name.startsWith('test_methods') ? `TestByMethods > ${name}` : `TestNested > ${name}`))
    .flatMap((name) => (name === 'test_computed' ? ['1-2', '2-4'].map((id) => `${name}[${id}]`) : [name]))
    .flatMap((name) => (name === 'test_of_a_table' ? ['one', 'two'].map((id) => `${name}[${id}]`) : [name]))
    .map((name) => `test_calc.py > ${name}`),
};

const METHODS = `
import unittest
from unittest import mock
from calc import half, twice


class Checks:
    def assertTwice(self, number, expected):
        if twice(number) != expected:
            self.fail(f'twice {number} is not {expected}')


class CalcTest(Checks, unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.addTypeEqualityFunc(float, lambda one, two, msg=None: self.assertAlmostEqual(one, two, 3))

    def test_any(self):
        self.assertEqual(twice(1), mock.ANY)
        self.assertEqual([mock.ANY, twice(1)], [5, 2])
        self.assertDictEqual({'a': twice(1), 'b': 1}, {'a': 2, 'b': mock.ANY})

    def test_expects_a_failure(self):
        with self.assertRaises(AssertionError):
            self.assertEqual(twice(1), 1)
        with self.assertRaisesRegex(self.failureException, 'twice 2 is not 9'):
            self.assertTwice(2, 9)
        self.assertRaises(ValueError, half, 3)

    def test_tolerance(self):
        self.assertAlmostEqual(twice(100), 199, delta=5)
        self.assertAlmostEqual(twice(1.04), 2.0, places=0)
        self.assertEqual(twice(0.1), 0.2000001)
        self.assertGreater(twice(100), 150)
        self.assertLessEqual(twice(-5), -6)

    def test_forms(self):
        self.assertTrue(twice(1) == 2)
        self.assertTrue(twice([1]))
        self.assertFalse(twice(1) == 1)
        self.assertIn(twice(1), {2, 3})
        self.assertNotIn(twice(1), [1])
        self.assertIsInstance(twice('a'), str)
        self.assertIsNot(twice([]), None)
        self.assertIsNotNone(twice(1))
        self.assertCountEqual(twice([1]), [1, 1])
        self.assertRegex(twice('ab'), 'a.*b$')
        self.assertNotEqual(twice(1), 1)
        self.assertSequenceEqual(twice((1, 2)), [1, 2, 1, 2])
        self.assertListEqual(twice([1]), [1] * 2)
        self.assertMultiLineEqual(twice('x'), 'xx')

    def test_in_subtests(self):
        for number in range(3):
            with self.subTest(number=number):
                self.assertEqual(twice(number), number + number)

    def test_returns_early(self):
        for number in (1, 2, 3):
            if number == 2:
                self.assertEqual(twice(number), 4)
                return
        self.fail('never')

    def test_by_a_helper(self):
        self.assertTwice(3, 6)

    def test_logs(self):
        import logging
        with self.assertLogs(level='INFO') as logs:
            logging.info('twice is %d', twice(1))
        self.assertEqual(logs.records[0].getMessage(), 'twice is 2')

    @mock.patch('calc.half', return_value=3)
    def test_mocks(self, half):
        import calc
        self.assertEqual([calc.half(1)], [3])
        half.assert_called_once_with(1)
        self.assertEqual(twice(1), 2)

    def test_cleans_up(self):
        self.addCleanup(self.assertEqual, twice(1), 2)


class InheritedTest(CalcTest):
    def test_forms(self):
        super().test_forms()
        self.assertEqual(twice(2), 4)


class AsyncTest(unittest.IsolatedAsyncioTestCase):
    async def test_awaits(self):
        called = mock.AsyncMock(return_value=twice(1))
        self.assertEqual(await called(3), 2)
        called.assert_awaited_once_with(3)
`;

const UNITTEST: HonestFix = {
  files: { 'calc.py': BROKEN, 'test_calc.py': METHODS },
  fix: { 'calc.py': CALC },
  command: 'python3 -m unittest',
  mended: [
    ...[...METHODS.matchAll(/^ {4}def (test_\w+)/gm)].flatMap(([, name]) => [`CalcTest > ${name}`, `InheritedTest > ${name}`]),
    'AsyncTest > test_awaits',
  ]
    .filter((name, index, all) => all.indexOf(name) === index)
    .map((name) => `test_calc.py > ${name}`),
};

describe.skipIf(!available || !python.isHere)(
  `an honest fix passes the negative control, whatever its tests look like (${note}, ${python.note})`,
  { timeout: TIMEOUT_MS },
  () => {
    it.each([
      ['of pytest', PYTEST],
      ['of unittest', UNITTEST],
    ])('%s', async (_, honest) => {
      await expectHonest(honest);
    });
  },
);
