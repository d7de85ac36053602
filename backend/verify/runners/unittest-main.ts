/**
 * `python -m unittest` with results as JSON lines: unittest itself has only text. In Python, because the project's own loads it
 * (3.8 or later). What is said of forging in `pytest-plugin.ts` holds here too.
 */
export const unittestMain = (destination: string): string => `
import os
import sys
import time
import unittest
from json import dumps
from os import write

TARGET = os.open(${JSON.stringify(destination)}, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


def line(**fields):
    write(TARGET, (dumps(fields) + '\\n').encode())


def file_of(module):
    """The file of a module by its name, also of one that cannot be loaded."""
    loaded = getattr(sys.modules.get(module), '__file__', None)
    if loaded:
        return loaded
    parts = module.split('.')
    for folder in sys.path:
        for end in (parts[:-1] + [parts[-1] + '.py'], parts + ['__init__.py']):
            candidate = os.path.join(folder or os.getcwd(), *end)
            if os.path.isfile(candidate):
                return candidate
    return None


def names_of(test):
    method = getattr(test, '_testMethodName', None)
    kind = type(test).__name__
    if kind == '_FailedTest':
        return 'container', file_of(method), [] if file_of(method) else [method]
    if method is None or kind == '_ErrorHolder':
        # 'setUpClass (module.Class)'
        description = str(test)
        owner = description[description.find('(') + 1:-1] if '(' in description else description
        module, _, name = owner.rpartition('.')
        if file_of(owner):
            return 'container', file_of(owner), []
        return 'container', file_of(module) if module else None, [name or description]
    if kind in ('DocTestCase', 'DocFileCase'):
        return 'test', None, [test.id()]
    return 'test', file_of(type(test).__module__), [type(test).__qualname__, method]


class Result(unittest.TextTestResult):
    def startTest(self, test):
        self.started = time.perf_counter()
        super().startTest(test)

    def put(self, status, test, error=None, note=None):
        kind, file, names = names_of(test)
        message = note if error is None else '%s: %s' % (getattr(error[0], '__name__', error[0]), error[1])
        line(type='result', kind=kind, file=file, names=names, status=status, message=message and message[:4000],
             durationMs=(time.perf_counter() - getattr(self, 'started', time.perf_counter())) * 1000)

    def addSuccess(self, test):
        self.put('passed', test)
        super().addSuccess(test)

    def addFailure(self, test, err):
        self.put('failed', test, err)
        super().addFailure(test, err)

    def addError(self, test, err):
        self.put('failed', test, err)
        super().addError(test, err)

    def addSkip(self, test, reason):
        # A subtest that is skipped says nothing of its test.
        if not hasattr(test, 'test_case'):
            self.put('skipped', test, note=reason)
        super().addSkip(test, reason)

    def addExpectedFailure(self, test, err):
        self.put('skipped', test, err)
        super().addExpectedFailure(test, err)

    def addUnexpectedSuccess(self, test):
        self.put('failed', test, note='Unexpected success.')
        super().addUnexpectedSuccess(test)

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.put('failed', test, err, note=str(subtest))
        super().addSubTest(test, subtest, err)


class Runner(unittest.TextTestRunner):
    resultclass = Result

    def run(self, test):
        result = super().run(test)
        line(type='end')
        return result


unittest.main(module=None, testRunner=Runner, argv=['python -m unittest'] + sys.argv[1:])
`;
