/**
 * A plugin for pytest 6 and later. It writes a line per phase of a test, and a last line at the end of the run. `python-lines.ts` says how
 * they are written, and what code under test could still do to them.
 *
 * The built-in `--junitxml` does not serve: by default it does not name the file, it joins class and module, and every test can read its
 * path from pytest's options.
 *
 * Against common forgeries, it uses what a phase raised, not what other plugins make of it. It accepts no pass while a test's code runs, and
 * none for tests that were not collected or not run. Installed plugins are loaded. Plugins that are package metadata in the copy are not,
 * because a patch could have put them there.
 */
export const PYTEST_PLUGIN = `
import os


def hooks():
    # All in a function: no name of this module leads to what writes the report.
    import pytest
    from _pytest.assertion.rewrite import PYC_TAIL
    from conductor_coverage import keeps, open_coverage
    from conductor_report import let_go, open_report
    from conductor_watch import COMPILED_END, COPY, function_of, imported, place_of, walk_tests, watch, watch_constants, watch_files
    line = open_report()
    coverage = open_coverage()
    look, tell = watch(line)
    root = ''
    phase = None
    raised = set()
    collected = None
    runs_here = False
    ran = set()
    passed = {}
    look_at_files = lambda is_last=False: None
    look_at_constants = lambda: None
    runners = []

    def pytest_addoption(parser, pluginmanager):
        from importlib.metadata import distributions
        for distribution in distributions():
            location = os.path.realpath(str(distribution.locate_file('')))
            if location == COPY or location.startswith(COPY + os.sep):
                for entry in distribution.entry_points:
                    if entry.group == 'pytest11':
                        pluginmanager.set_blocked(entry.name)

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(config):
        nonlocal root
        # xdist's workers are told to load the same plugins, but what they find out comes through their parent.
        if __name__ in (config.option.plugins or []):
            config.option.plugins = [plugin for plugin in config.option.plugins if plugin != __name__]
        # All tests count, not only those up to the first failure. Workers of xdist read the same words anew.
        config.option.maxfail = 0
        if config.pluginmanager.hasplugin('xdist'):
            given = config.invocation_params
            config.invocation_params = type(given)(args=(*given.args, '--maxfail=0'), plugins=given.plugins, dir=given.dir)
        root = str(getattr(config, 'rootpath', None) or config.rootdir)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_load_initial_conftests(early_config):
        nonlocal look_at_files
        patterns = early_config.getini('python_files')
        named = [name.split('::')[0] for name in early_config.known_args_namespace.file_or_dir]
        starts = named or early_config.getini('testpaths') or ['.']
        look_at_files = watch_files(line, starts, patterns, [COMPILED_END, PYC_TAIL])
        hook = early_config.pluginmanager.hook
        runners.extend((hook, name, impl, impl.function) for name, impl in runner_hooks(hook))
        outcome = yield
        # Here pytest gives up: every file of tests is one that could not be loaded.
        if outcome.excinfo is not None and outcome.excinfo[0].__name__ == 'ConftestImportFailure':
            for file, is_test in walk_tests(starts, patterns):
                if is_test and os.path.basename(file) != 'conftest.py':
                    line(type='collect', root=COPY, node=os.path.relpath(file, COPY), outcome='failed',
                         message=str(outcome.excinfo[1])[:4000])
            line(type='end')

    def runner_hooks(hook):
        names = 'runtestloop runtest_protocol runtest_setup runtest_call runtest_teardown pyfunc_call fixture_setup'
        for name in names.split():
            for impl in getattr(hook, 'pytest_' + name).get_hookimpls():
                if impl.function.__module__.startswith('_pytest.'):
                    yield name, impl

    def look_at_hooks():
        for hook, name, impl, function in runners:
            if impl.function is not function:
                tell('pytest_' + name, impl.function)
            elif not any(impl is one for one in getattr(hook, 'pytest_' + name).get_hookimpls()):
                tell('pytest_' + name, None)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(items):
        yield
        if keeps:
            items[:] = [item for item in items if keeps(item.nodeid)]

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(session):
        # Not called where xdist's workers do the collecting.
        nonlocal collected, runs_here, look_at_constants
        collected = {}
        hook = session.config.hook
        loops = hook.pytest_runtest_protocol.get_hookimpls() + hook.pytest_runtestloop.get_hookimpls()
        runs_here = not any(runs_otherwise(impl) for impl in loops)
        for item in session.items:
            collected.setdefault(item.nodeid, []).append(item)
            item.conductor_code = code_of(item)
        look_at_files()
        modules = {item.getparent(pytest.Module) for item in session.items} - {None}
        look_at_constants = watch_constants(tell, [module.obj for module in modules if hasattr(module.obj, '__file__')])

    def runs_otherwise(impl):
        is_known = impl.hookwrapper or getattr(impl, 'wrapper', False) or impl.function.__module__.startswith('_pytest.')
        return not is_known and place_of(impl.function) == 'installed'

    def code_of(item):
        # Not item.obj, which would make an instance of the test's class.
        function = function_of(vars(item).get('_obj'))
        return function and function.__code__

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(item):
        if coverage:
            coverage.begin(item.nodeid, root, item.nodeid, [])
        yield
        if coverage:
            coverage.end()
        look()

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_fixture_setup(fixturedef):
        # What several tests share is set up by the first of them.
        before = coverage.swap(coverage.outside) if coverage and fixturedef.scope != 'function' else None
        yield
        if before is not None:
            coverage.swap(before)

    def running(item, when):
        nonlocal phase
        phase = item.nodeid, when
        raised.discard(phase)
        outcome = yield
        if outcome.excinfo is not None:
            raised.add(phase)
        ran.add(phase)
        phase = None

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_setup(item):
        yield from running(item, 'setup')

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_call(item):
        code = code_of(item)
        if code is not getattr(item, 'conductor_code', code):
            tell('the test ' + item.nodeid, code)
        for name in ('runtest', 'setup'):
            if name in vars(item):
                tell('the test ' + item.nodeid, vars(item)[name])
        yield from running(item, 'call')

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_teardown(item):
        yield from running(item, 'teardown')

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(item, call):
        # While a phase runs, this is about a part of it: a subtest.
        if call.excinfo is not None and phase is None:
            raised.add((item.nodeid, call.when))
        yield

    def message_of(report):
        crash = getattr(getattr(report, 'longrepr', None), 'reprcrash', None)
        text = getattr(crash, 'message', None) or getattr(report, 'longreprtext', '')
        return str(text)[:4000]

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(report):
        node, when, outcome = report.nodeid, str(report.when), str(report.outcome)
        message = None if outcome == 'passed' else message_of(report)
        if outcome == 'passed':
            # Only a subtest is reported while its test runs, and a test does not pass by its parts.
            if phase is not None:
                return
            # pytest itself says so only of a phase that raised nothing.
            if (node, when) in raised:
                outcome, message = 'failed', 'The test failed, but was reported as passed.'
        if collected is not None and node not in collected:
            line(type='planted', what='The test ' + node + ' was reported, but never collected.')
        # Plugins may run tests several times, and in processes of their own.
        elif outcome == 'passed' and runs_here:
            passed[node, when] = passed.get((node, when), 0) + 1
            if passed[node, when] > len(collected[node]):
                line(type='planted', what='The test ' + node + ' was reported as passed more often than it was run.')
            elif (node, when) not in ran:
                line(type='planted', what='The test ' + node + ' was reported as passed, but never run.')
        line(type='phase', root=root, node=node, when=when, outcome=outcome, durationMs=report.duration * 1000, message=message)

    def pytest_collectreport(report):
        if report.outcome != 'passed':
            line(type='collect', root=root, node=report.nodeid, outcome=report.outcome, message=message_of(report))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(session, exitstatus):
        look(is_last=True)
        look_at_constants()
        look_at_files(is_last=True)
        look_at_hooks()
        if coverage:
            coverage.write()
        line(type='imported', **imported())
        if phase is None:
            line(type='end')

    let_go()
    return {name: hook for name, hook in locals().items() if name.startswith('pytest_')}


globals().update(hooks())
options = os.environ.pop('PYTEST_ADDOPTS', '').replace('-p ' + __name__, '', 1).strip()
if options:
    os.environ['PYTEST_ADDOPTS'] = options
`;
