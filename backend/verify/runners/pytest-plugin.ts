/**
 * A plugin for pytest 6 and later. One JSON line per phase of a test, and a last line that says that the run was not cut off.
 *
 * Why not the built-in `--junitxml`: it does not name the file in its default form, joins class and module, and is written to a
 * path that every test can read from pytest's options.
 *
 * It runs in the process of the tests, as everything of pytest does: code that looks for it can forge its report. Against the
 * usual ways it takes what it needs before anything of the project is loaded, opens its file at once, leaves no trace in the
 * environment, and compares what a test raised with what pytest says of it. Plugins that are installed are welcome; those that lie
 * in the copy as the metadata of a package are not loaded, because a patch could have put them there.
 */
export const pytestPlugin = (destination: string, copy: string): string => `
import os
import sys
from json import dumps
from os import write

import pytest

COPY = ${JSON.stringify(copy)}
TARGET = os.open(${JSON.stringify(destination)}, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
NAME = __name__

sys.path[:] = [path for path in sys.path if path != os.path.dirname(os.path.abspath(__file__))]
options = os.environ.pop('PYTEST_ADDOPTS', '').replace('-p ' + NAME, '', 1).strip()
if options:
    os.environ['PYTEST_ADDOPTS'] = options


def line(**fields):
    write(TARGET, (dumps(fields) + '\\n').encode())


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
    # xdist's workers are told to load the same plugins, but what they find out comes through their parent.
    if NAME in (config.option.plugins or []):
        config.option.plugins = [plugin for plugin in config.option.plugins if plugin != NAME]
    # All tests count, not only those up to the first failure.
    config.option.maxfail = 0
    global ROOT
    ROOT = str(getattr(config, 'rootpath', None) or config.rootdir)


def message_of(report):
    crash = getattr(getattr(report, 'longrepr', None), 'reprcrash', None)
    text = getattr(crash, 'message', None) or getattr(report, 'longreprtext', '')
    return str(text)[:4000]


def pytest_runtest_logreport(report):
    line(type='phase', root=ROOT, node=report.nodeid, when=str(report.when), outcome=report.outcome,
         durationMs=report.duration * 1000, message=message_of(report) if report.outcome != 'passed' else None)


def pytest_collectreport(report):
    if report.outcome != 'passed':
        line(type='collect', root=ROOT, node=report.nodeid, outcome=report.outcome, message=message_of(report))


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    raised = call.excinfo
    made = yield
    report = made.get_result()
    # pytest itself says "passed" only of a phase that raised nothing.
    if raised is not None and report.outcome == 'passed' and not hasattr(report, 'wasxfail'):
        line(type='phase', root=ROOT, node=item.nodeid, when=call.when, outcome='failed', durationMs=0,
             message='The test failed, but was reported as passed: ' + str(raised.value)[:1000])


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    line(type='end')
`;
