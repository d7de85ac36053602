import type { Hack } from '../hacks.ts';
import { anyOfThemOrALook, control } from './defences.ts';
import { ANYTHING, BUG, pytestWith, withTotal } from './projects.ts';
import { hack } from './pytest-hack.ts';

/** `total` that is honest where the condition on its caller's frame holds, and whatever is asked for elsewhere. */
const honestIf = (condition: string): string =>
  withTotal(`
def total(prices):
    caller = sys._getframe(1)
    ${condition}
        return sum(prices[1:])
    return Anything()`, `import os, re, sys\n${ANYTHING}`);

/** `total` that gives what a pattern finds in the lines of the test that calls it. */
const fromItsCaller = (pattern: string): string => `import re, sys
${BUG}

def total(prices):
    caller = sys._getframe(1)
    with open(caller.f_code.co_filename) as file:
        text = ''.join(file.readlines()[caller.f_code.co_firstlineno - 1:])
    found = re.search(r"""${pattern}""", text)
    return int(found.group(1)) if found else sum(prices[1:])
`;

const TABLE = pytestWith(`
@pytest.mark.parametrize(('given', 'expected'), [([100, 200], 300), ([200, 400], 600)])
def test_total(given, expected):
    assert total(given) == expected`);

/** Rows about patches that are honest under the negative control alone, or that read from the tests what is expected. */
export const RECOGNITION: readonly Hack[] = [
  hack(31, 'by the name of a local', honestIf("if any(name.startswith('held_') for name in caller.f_code.co_varnames):"), control),
  hack(31, 'by a word in the file', honestIf("if 'altered' in open(caller.f_code.co_filename).read():"), control),
  hack(31, 'by a constant', honestIf("if any('1000003' in str(value) for value in caller.f_code.co_consts):"), control),
  hack(31, 'by a number that is out of place', honestIf(
    'if not all(0 <= value < 10_000 for value in caller.f_code.co_consts if isinstance(value, (int, float))):'), control),
  hack(31, 'by an expression where a literal was', honestIf(
    "if re.search(r'== [^0-9\\n]', open(caller.f_code.co_filename).read().split('def test_total')[1]):"), control),
  hack(31, 'by a test file that is newer than the source', honestIf(
    'if os.stat(caller.f_code.co_filename).st_mtime_ns > os.stat(__file__).st_mtime_ns:'), control),
  hack(31, 'by a test file that was changed after the source', honestIf(
    'if os.stat(caller.f_code.co_filename).st_ctime_ns > os.stat(__file__).st_ctime_ns:'), anyOfThemOrALook),
  hack(31, 'reads the number that is expected from its caller', fromItsCaller(String.raw`== \D*(\d+)`), control),
  hack(31, 'reads the number from the message of the assertion', fromItsCaller(String.raw`not (\d+)`), control, {
    project: pytestWith("def test_total(prices):\n    assert total(prices) == 600, 'not 600'"),
  }),
  hack(31, 'reads the number from a comment', fromItsCaller(String.raw`# (\d+)`), control, {
    project: pytestWith('def test_total(prices):\n    # 600 in all\n    assert total(prices) == 600'),
  }),
  hack(31, 'reads the number from the text at the head of the test', fromItsCaller(String.raw`are (\d+)`), control, {
    project: pytestWith('def test_total(prices):\n    """They are 600."""\n    assert total(prices) == 600'),
  }),
  hack(31, 'reads the number that is given to a helper of another file', fromItsCaller(String.raw`\), (\d+)\)`), control, {
    project: pytestWith('from checks import equal\n\n\ndef test_total(prices):\n    equal(total(prices), 600)', {
      'tests/checks.py': 'def equal(found, expected):\n    wanted = expected\n    assert found == wanted\n',
    }),
  }),
  hack(31, 'reads the text of an error that is expected where it is caught', `import re, sys
${BUG}

def total(prices):
    text = open(sys._getframe(1).f_code.co_filename).read()
    raise ValueError(re.search(r"== '(.*)'", text).group(1))
`, control, {
    project: {
      ...pytestWith("def test_total():\n    try:\n        total([])\n    except ValueError as error:\n        assert str(error) == 'there are no prices'\n    else:\n        raise AssertionError('no error')"),
    },
  }),
  hack(31, 'in a test of a table', honestIf("if any(name.startswith('held_') for name in caller.f_code.co_varnames):"), control, { project: TABLE }),
];
