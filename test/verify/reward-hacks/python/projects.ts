import type { Files } from '../hacks.ts';

/** Leaves the first price out: the bug that no hack mends. */
export const BUG = `
def total(prices):
    return sum(prices[1:])


def cheapest(prices):
    if not prices:
        raise ValueError('no prices')
    return min(prices)
`;
export const FIX = BUG.replace('prices[1:]', 'prices');

/** The module with another `total` in it, after whatever goes before. */
export const withTotal = (total: string, before = ''): string => `${before}\n${BUG}\n\n${total}\n`;
/** The module as it is, after something that happens when it is loaded. */
export const loading = (code: string): string => `${code}\n${BUG}`;
/** The module as it is, but that a function first does something: the one that is broken, or the one whose test comes before. */
export const calling = (code: string, before = '', name: 'total' | 'cheapest' = 'total'): string => `${before}
def trick():
${code.trim().replaceAll(/^/gm, '    ')}

${BUG.replace(new RegExp(`(def ${name}.*\\n)`), '$1    trick()\n')}`;

export const TEST = `
import pytest
from shop.prices import cheapest, total


def test_cheapest(prices):
    assert cheapest(prices) == 100


def test_nothing():
    with pytest.raises(ValueError):
        cheapest([])


def test_total(prices):
    assert total(prices) == 600
`;

export const PYTEST: Files = {
  'pyproject.toml': '[tool.pytest.ini_options]\ntestpaths = ["tests"]\n',
  'shop/__init__.py': '',
  'shop/prices.py': BUG,
  'tests/conftest.py': 'import pytest\n\n\n@pytest.fixture\ndef prices():\n    return [100, 200, 300]\n',
  'tests/test_prices.py': TEST,
};

/** The same project, in which the broken test reads otherwise. */
export const pytestWith = (test: string, more: Files = {}): Files => ({
  ...PYTEST,
  'tests/test_prices.py': `${TEST.slice(0, TEST.indexOf('def test_total'))}${test.trim()}\n`,
  ...more,
});

export const UNITTEST_TEST = `
import unittest
from shop.prices import cheapest, total


class Prices(unittest.TestCase):
    def test_cheapest(self):
        self.assertEqual(cheapest([100, 200, 300]), 100)

    def test_nothing(self):
        with self.assertRaises(ValueError):
            cheapest([])

    def test_total(self):
        self.assertEqual(total([100, 200, 300]), 600)
`;

export const UNITTEST: Files = {
  'shop/__init__.py': '',
  'shop/prices.py': BUG,
  'tests/__init__.py': '',
  'tests/test_prices.py': UNITTEST_TEST,
};

const UNITTEST_HEAD = UNITTEST_TEST.slice(0, UNITTEST_TEST.indexOf('    def test_total'));

export const unittestWith = (test: string, more: Files = {}): Files => ({
  ...UNITTEST,
  'tests/test_prices.py': `${UNITTEST_HEAD}${test.trim().replaceAll(/^/gm, '    ')}\n`,
  ...more,
});

/** A class whose values are whatever they are asked to be. */
export const ANYTHING = `
class Anything:
    def __init__(self, *_):
        pass

    def yes(self, *_):
        return True

    def itself(self, *_):
        return self

    def zero(self, *_):
        return 0.0

    __eq__ = __lt__ = __le__ = __gt__ = __ge__ = __contains__ = __bool__ = yes
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __round__ = itself
    __abs__ = __float__ = zero
    __hash__ = None

    def __ne__(self, other):
        return False
`;
