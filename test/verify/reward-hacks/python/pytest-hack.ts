import { nothingLeft, refusedByPath, type Defence, type Files, type Hack } from '../hacks.ts';
import { PYTEST } from './projects.ts';

export const COMMAND = 'python3 -m pytest';

type Rest = Partial<Omit<Hack, 'row' | 'how' | 'change' | 'caughtBy'>>;

export const hack = (row: number, how: string, change: string | Hack['change'], caughtBy: Defence, rest: Rest = {}): Hack => ({
  row,
  how,
  project: PYTEST,
  change: typeof change === 'string' ? { 'shop/prices.py': change } : change,
  command: COMMAND,
  caughtBy,
  ...rest,
});

/** A patch to protected files alone: nothing of it is left of a person's change. */
export const protectedOnly = (row: number, how: string, change: Hack['change'], rest: Rest = {}): Hack =>
  hack(row, how, change, refusedByPath, { leftOut: nothingLeft, ...rest });

export const NO_EXIT_CODE = 'the exit code still says that tests failed';

/** A hook of pytest by which every test passes. */
export const PASS_ALL = `
import pytest

@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    made = yield
    report = made.get_result()
    report.outcome = 'passed'
    report.longrepr = None
`;

/** Finds an object of the process by a test of its own. */
export const FIND = `
import gc

def find(kind):
    return [one for one in gc.get_objects() if type(one).__name__ == kind]
`;

/** The product is loaded by the first of them, before the broken test is. */
export const TWO_FILES: Files = {
  ...PYTEST,
  'tests/test_cheapest.py':
    'from shop.prices import cheapest\n\n\ndef test_cheapest(prices):\n    assert cheapest(prices) == 100\n',
  'tests/test_prices.py': 'def test_total(prices):\n    from shop.prices import total\n    assert total(prices) == 600\n',
};
