/**
 * The Python module `conductor_watch`. It detects project code that replaces what tests rely on (functions of pytest, unittest and
 * Django's tests, built-in functions, the clock) or writes test files, by comparing with the state at the start. Tests themselves may do both.
 * `python-lines.ts` lists the remaining ways to evade it.
 */
export const pythonWatch = (copy: string): string => `
# Own built-in functions, so that a product that replaces them does not affect this module.
__builtins__ = dict(vars(__import__('builtins')))

import atexit
import builtins
import datetime
import dis
import functools
import math
import operator
import os
import sys
import time
import timeit
import types
from fnmatch import fnmatch
from time import perf_counter as clock

COPY = ${JSON.stringify(copy)}
STANDARD_LIBRARY = os.path.dirname(os.path.realpath(os.__file__)) + os.sep
IS_WALLED = not os.access(STANDARD_LIBRARY, os.W_OK)
TEMPORARY = os.path.realpath(os.environ.get('TMPDIR') or '/tmp') + os.sep


def is_code(value):
    # By its type alone: objects that are made when they are used, as Django's settings, must not be.
    return issubclass(type(value), (types.FunctionType, types.BuiltinFunctionType, staticmethod, classmethod, property, type))


def function_of(value):
    value = getattr(value, '__func__', value)
    return value if isinstance(value, types.FunctionType) else None


def file_of(value):
    """The file that the code of a value comes from, or None."""
    for _ in range(9):
        if isinstance(value, functools.partial):
            value = value.func
        elif isinstance(value, property):
            value = value.fget
        elif isinstance(value, (staticmethod, classmethod, types.MethodType)):
            value = value.__func__
    if isinstance(value, types.CodeType):
        return value.co_filename
    if isinstance(value, types.FunctionType):
        return value.__code__.co_filename
    owner = value if isinstance(value, (type, types.BuiltinFunctionType)) else type(value)
    return getattr(sys.modules.get(owner.__module__), '__file__', None)


def place_of(value):
    """The file of a value, relative to the copy; 'installed' if no patch could write it; None if its origin is unknown."""
    try:
        file = os.path.realpath(file_of(value))
    except Exception:
        return None
    if file.startswith(COPY + os.sep):
        return file[len(COPY) + 1:]
    is_standard = file.startswith(STANDARD_LIBRARY) and 'site-packages' not in file and 'dist-packages' not in file
    is_own = file.startswith(TEMPORARY) or (IS_WALLED and os.access(os.path.dirname(file), os.W_OK))
    return 'installed' if os.path.isfile(file) and not is_standard and not is_own else None


# Functions that no assertions rely on, or that interpreters and consoles replace.
UNWATCHED = {
    '__import__', '__build_class__', 'print', 'input', 'breakpoint', 'exit', 'quit', 'help', 'copyright', 'credits', 'license',
}


def references():
    """Name, namespace, key and value of each watched object."""
    for name, module in list(sys.modules.items()):
        is_of_runner = name.split('.')[0] in ('_pytest', 'pytest', 'pluggy', 'unittest') or (name + '.').startswith('django.test.')
        if name not in ('builtins', 'math', 'operator') and not is_of_runner:
            continue
        members = vars(module)
        yield 'the module ' + name, sys.modules, name, module
        for key, value in list(members.items()):
            if not is_code(value) or (module is builtins and key in UNWATCHED):
                continue
            yield name + '.' + key, members, key, value
            if isinstance(value, type) and value.__module__ == name and module is not builtins:
                for part, member in list(vars(value).items()):
                    if is_code(member):
                        yield '.'.join((name, key, part)), vars(value), part, member
    for module, keys in (
        (time, ('time', 'time_ns', 'monotonic', 'monotonic_ns', 'perf_counter', 'perf_counter_ns', 'sleep')),
        (time, ('process_time', 'process_time_ns', 'thread_time', 'thread_time_ns')),
        (timeit, ('default_timer', 'timeit', 'repeat', 'Timer')),
        (datetime, ('datetime', 'date')),
        (os, ('_exit', 'abort')),
        (sys, ('exit', 'gettrace', 'getprofile', '_getframe')),
        (atexit, ('register',)),
    ):
        yield 'the module ' + module.__name__, sys.modules, module.__name__, module
        for key in keys:
            if key in vars(module):
                yield module.__name__ + '.' + key, vars(module), key, getattr(module, key)


def watch(line):
    """
    Returns two functions. The first runs after each test and reports each watched object that was replaced, once. The second reports
    the replacement of one named object.
    """
    known = []
    for name, space, key, value in references():
        function = function_of(value)
        known.append((name, space, key, value, function, function and function.__code__))
    states = [
        ('the trace function', sys.gettrace, sys.gettrace()),
        ('the profile function', sys.getprofile, sys.getprofile()),
        ('sys.pycache_prefix', lambda: sys.pycache_prefix, sys.pycache_prefix),
    ]
    told = set()

    def tell(name, now, is_last=True):
        place = place_of(now)
        # A value of unknown origin is most often a mock: of a fixture for all tests, or a permanent one that keeps tests from waiting.
        is_mock = place is None and (not is_last or name == 'time.sleep')
        if place != 'installed' and not is_mock and name not in told:
            told.add(name)
            line(type='replaced', name=name, file=place)

    next_look = 0

    def look(is_last=False):
        # Limits the checks to a small share of the tests' time.
        nonlocal next_look
        started = clock()
        if started < next_look and not is_last:
            return
        for name, space, key, value, function, code in known:
            now = space.get(key)
            if now is not value:
                tell(name, now, is_last)
            elif function is not None and function.__code__ is not code:
                tell(name, function.__code__, is_last)
        for name, current, value in states:
            if current() is not value and current() is not None:
                tell(name, current(), is_last)
        ended = clock()
        next_look = ended + 20 * (ended - started)

    return look, tell


# Without NoneType: None often stands for a value that is set later.
CONSTANTS = (bool, int, float, complex, str, bytes, tuple, frozenset)


def watch_constants(tell, modules):
    """Returns a function that reports constants of test modules that changed although no code in their module sets them."""
    known = []
    for module in modules:
        for name, value in list(vars(module).items()):
            if type(value) in CONSTANTS and not name.startswith('__'):
                known.append((module, name, value))

    def sets(code, name):
        if any(step.opname == 'STORE_GLOBAL' and step.argval == name for step in dis.get_instructions(code)):
            return True
        return any(sets(constant, name) for constant in code.co_consts if isinstance(constant, types.CodeType))

    def sources(module):
        with open(module.__file__, 'rb') as file:
            return compile(file.read(), module.__file__, 'exec')

    def look():
        for module, name, value in known:
            now = vars(module).get(name)
            is_same = now is value or (type(now) is type(value) and now == value)
            if not is_same and not sets(sources(module), name):
                tell(module.__name__ + '.' + name, now)

    return look


def imported():
    """The files of the copy that are loaded, and the packages and modules that come from elsewhere, but for Python's own."""
    own, elsewhere = [], []
    for name, module in list(sys.modules.items()):
        try:
            file = os.path.realpath(module.__file__)
        except Exception:
            continue
        if file.startswith(COPY + os.sep):
            own.append(file[len(COPY) + 1:])
        elif '.' not in name and ('site-packages' in file or 'dist-packages' in file or not file.startswith(STANDARD_LIBRARY)):
            elsewhere.append([name, os.path.dirname(file) if os.path.basename(file).startswith('__init__.') else file])
    return {'own': own, 'elsewhere': elsewhere}


# As in 'protected-paths.ts', for data beside tests.
TEST_FOLDERS = {
    'test', 'tests', '__tests__', 'spec', 'specs', 'e2e', 'fixture', 'fixtures', '__fixtures__', '__testfixtures__', 'testdata',
    'test-data', 'test_data', '_test', '_tests', '__mocks__', '__snapshots__',
}


def walk_tests(starts, patterns):
    """The test files in the given folders of the copy, with conftest.py of parent folders. Yields path and whether it is code or data."""
    for start in {os.path.realpath(start) for start in starts}:
        if os.path.isfile(start):
            yield start, True
        above = start
        while above.startswith(COPY + os.sep):
            above = os.path.dirname(above)
            if os.path.isfile(os.path.join(above, 'conftest.py')):
                yield os.path.join(above, 'conftest.py'), True
        for folder, folders, files in os.walk(start):
            folders[:] = [name for name in folders if not name.startswith('.') and name not in ('node_modules', '__pycache__')]
            has_data = not TEST_FOLDERS.isdisjoint(folder[len(COPY):].split(os.sep))
            for name in files:
                is_test = name == 'conftest.py' or any(fnmatch(name, pattern) for pattern in patterns)
                if is_test or has_data:
                    yield os.path.join(folder, name), is_test


COMPILED_END = '.%s.pyc' % sys.implementation.cache_tag


def watch_files(line, starts, patterns, compiled_ends):
    """
    Returns a function that reports each test file that has changed since the start. After the tests, which may write to their data, it
    checks only loaded test files.
    """
    began = time.time()

    def identity(path):
        try:
            found = os.stat(path)
            return found.st_mtime_ns, found.st_size, found.st_ino
        except OSError:
            return None

    known = {}
    for path, is_test in walk_tests(starts, patterns):
        known[path] = is_test, identity(path)
        # Compiled tests. Python and pytest run with options that keep them from writing these.
        folder, name = os.path.split(path)
        for end in compiled_ends if is_test else ():
            compiled = os.path.join(folder, '__pycache__', name[:-3] + end)
            known[compiled] = False, identity(compiled)

    def is_new(path):
        return path not in known and (not os.path.exists(path) or os.stat(path).st_ctime > began)

    def look(is_last=False):
        loaded = {os.path.realpath(getattr(module, '__file__', None) or '') for module in list(sys.modules.values())}
        changed = [path for path, (is_test, before) in known.items()
                   if (not is_last or (is_test and path in loaded)) and identity(path) != before]
        changed += [path for path in loaded
                    if path.startswith(COPY + os.sep) and os.path.basename(path) == 'conftest.py' and is_new(path)]
        for path in changed:
            line(type='planted', what='The code under test wrote a file of the tests: ' + path[len(COPY) + 1:])
            known.pop(path, None)

    return look


`;
