/**
 * `python -m unittest` with results as JSON lines: unittest itself has only text. With `--script` or `--module` and a name, it starts Django's
 * tests instead. In Python, because the project's own loads it (3.8 or later). How lines are written, and what a product's code could still do to them: see `python-lines.ts`.
 */
export const UNITTEST_MAIN = `
def prepare():
    # All in a function: no name of this module leads to what writes the report.
    import os
    import sys
    import time
    import unittest
    from conductor_coverage import keeps, open_coverage
    from conductor_report import let_go, open_report
    from conductor_watch import COMPILED_END, COPY, function_of, imported, watch, watch_files
    clock, frame = time.perf_counter, sys._getframe

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

    def file_of_class(kind, method):
        """The file of its module if it is there; a class that only says so is where its test is written."""
        found = sys.modules.get(kind.__module__)
        for part in kind.__qualname__.split('.'):
            found = getattr(found, part, None)
        function = function_of(getattr(kind, method, None))
        return file_of(kind.__module__) if found is kind or function is None else function.__code__.co_filename

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
        return 'test', file_of_class(type(test), method), [type(test).__qualname__, method]

    line = open_report()
    coverage = open_coverage()
    running = None

    def planted(what):
        line(type='planted', what=what)

    class Result(unittest.TextTestResult):
        def startTest(self, test):
            nonlocal running
            if running is not None:
                planted('A test was started while another one ran.')
            running = test
            if coverage:
                coverage.begin(key_of(test), None, *names_of(test)[1:])
            self.started = clock()
            super().startTest(test)

        def stopTest(self, test):
            nonlocal running
            running = None
            super().stopTest(test)
            if coverage:
                coverage.end()
            look()
            for name in {'run', getattr(test, '_testMethodName', None)}.intersection(vars(test)):
                tell(type(test).__name__ + '.' + name, vars(test)[name])

        def put(self, status, test, error=None, note=None):
            kind, file, names = names_of(test)
            message = note if error is None else '%s: %s' % (getattr(error[0], '__name__', error[0]), error[1])
            line(type='result', kind=kind, file=file, names=names, status=status, message=message and message[:4000],
                 durationMs=(clock() - getattr(self, 'started', clock())) * 1000)

        def addSuccess(self, test):
            nonlocal running
            # Good news of a test comes once, from what runs it.
            caller = os.path.realpath(frame(1).f_code.co_filename)
            if test is not running:
                planted('A test was reported as passed that did not run.')
            elif caller.startswith(COPY + os.sep):
                line(type='replaced', name='what runs a test', file=caller[len(COPY) + 1:])
            running = planted
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

    def methods_of(test):
        if isinstance(test, unittest.TestSuite):
            for one in test:
                yield from methods_of(one)
        function = function_of(getattr(type(test), getattr(test, '_testMethodName', ''), None))
        if function is not None:
            yield type(test), test._testMethodName, function, function.__code__

    def key_of(test):
        kind, file, names = names_of(test)
        return ' '.join([os.path.relpath(file, COPY) if file else ''] + names)

    def some_of(test):
        if isinstance(test, unittest.TestSuite):
            for one in test:
                yield from some_of(one)
        elif keeps(key_of(test)):
            yield test

    class Runner(unittest.TextTestRunner):
        resultclass = Result

        def run(self, test):
            # All tests count, not only those up to the first failure.
            self.failfast = False
            look_at_files()
            if keeps:
                test = unittest.TestSuite(list(some_of(test)))
            methods = list(methods_of(test))
            result = super().run(test)
            look(is_last=True)
            look_at_files(is_last=True)
            for kind, name, function, code in methods:
                now = function_of(getattr(kind, name, None))
                if now is not function or function.__code__ is not code:
                    tell(kind.__name__ + '.' + name, now and now.__code__)
            if coverage:
                coverage.write()
            line(type='imported', **imported())
            line(type='end')
            return result

    def start(how, name):
        import runpy
        # Of tests in other processes nothing is seen, and Django needs a package to hand on their failures.
        sys.argv[:] = sys.argv[2:] + ['--parallel=1' for word in sys.argv if word.startswith('--parallel')][:1]
        if how == '--script':
            sys.path[0] = os.path.dirname(os.path.abspath(name))
            runpy.run_path(name, run_name='__main__')
        else:
            runpy.run_module(name, run_name='__main__', alter_sys=True)

    is_started = sys.argv[1:2] in (['--script'], ['--module'])
    if is_started:
        # Where Django looks for the runner of unittest. What is watched is as it is from here on, Django's tests included.
        unittest.TextTestRunner = unittest.runner.TextTestRunner = Runner
        try:
            import django.test
        except Exception:
            # The script says it itself.
            pass
    look, tell = watch(line)
    look_at_files = watch_files(line, ['.'], ['test*.py', '*_test.py'], [COMPILED_END])
    let_go()
    if is_started:
        return lambda: start(*sys.argv[1:3])
    return lambda: unittest.main(module=None, testRunner=Runner, argv=['python -m unittest'] + sys.argv[1:])


prepare()()
`;
