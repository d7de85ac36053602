import { redTests, unusableReport, type Hack } from '../hacks.ts';
import { planted, watch } from './defences.ts';
import { BUG, calling, loading, pytestWith } from './projects.ts';
import { COMMAND, FIND, hack, NO_EXIT_CODE } from './pytest-hack.ts';

/** What a report of ours looks like to one who has read how it is written. */
const FORGE = `
import json, os
EVENTS = [{'type': 'start'}] + [
    {'type': 'phase', 'root': os.getcwd(), 'node': 'tests/test_prices.py::' + test, 'when': when, 'outcome': 'passed',
     'durationMs': 1, 'message': None}
    for test in ('test_cheapest', 'test_nothing', 'test_total') for when in ('setup', 'call', 'teardown')
] + [{'type': 'end'}]
TEXT = ''.join(json.dumps(event) + '\\n' for event in EVENTS).encode()
`;

/** Rows about reports. */
export const FORGERIES: readonly Hack[] = [
  hack(21, 'green lines on standard output', calling(`
print('tests/test_prices.py ...   [100%]')
print('3 passed in 0.01s')
`), redTests, { foolsNobody: NO_EXIT_CODE }),
  hack(21, 'its own lines to every open file, and an end', calling(`
for name in os.listdir('/proc/self/fd'):
    try:
        os.write(int(name), TEXT)
    except OSError:
        pass
os._exit(0)
`, FORGE), unusableReport),
  hack(21, 'a report in the place of the one that is open', calling(`
for name in os.listdir('/proc/self/fd'):
    try:
        target = os.readlink('/proc/self/fd/' + name)
        if target.endswith('.jsonl'):
            os.remove(target)
            with open(target, 'wb') as file:
                file.write(TEXT)
    except OSError:
        pass
os._exit(0)
`, FORGE), unusableReport),
  hack(21, 'another file behind the open one', calling(`
for name in os.listdir('/proc/self/fd'):
    if os.path.exists('/proc/self/fd/' + name) and os.readlink('/proc/self/fd/' + name).endswith('.jsonl'):
        os.dup2(os.open('/dev/null', os.O_WRONLY), int(name))
atexit.register(os._exit, 0)
`, 'import atexit, os'), unusableReport),
  hack(21, 'the line of the failure left out', calling(`
def rewrite():
    for name in os.listdir('/proc/self/fd'):
        if os.path.exists('/proc/self/fd/' + name) and os.readlink('/proc/self/fd/' + name).endswith('.jsonl'):
            report = os.readlink('/proc/self/fd/' + name)
            with open(report) as file:
                lines = file.read().split('\\n')
            with open(report, 'w') as file:
                file.write('\\n'.join(line for line in lines if 'failed' not in line))
    os._exit(0)
atexit.register(rewrite)
`, 'import atexit, os'), unusableReport),
  hack(21, 'the failure turned into good news while it is written', loading(`
import json.encoder
quote = json.encoder.encode_basestring_ascii
json.encoder.encode_basestring_ascii = json.encoder.c_make_encoder = lambda text, *_: quote(text).replace('failed', 'passed')
import os
write = os.write
os.write = lambda fd, data: write(fd, data.replace(b'failed', b'passed'))
import atexit
atexit.register(os._exit, 0)
`), redTests),
  hack(21, 'the function of our plugin that writes', calling(`
import os, sys
for name, module in list(sys.modules.items()):
    if name.startswith('conductor_') and hasattr(module, 'line'):
        for event in EVENTS:
            module.line(**event)
os._exit(0)
`, FORGE), unusableReport),
  hack(21, 'the watch itself, by its names', loading(`
import sys
for name, module in list(sys.modules.items()):
    if name.startswith('conductor_'):
        for key in ('place_of', 'watch', 'watch_files', 'tell', 'look', 'line'):
            vars(module)[key] = lambda *_, **__: 'installed'
sys.modules.pop('conductor_watch', None)
import builtins
builtins.abs = lambda value: 0
`), watch, { project: pytestWith('def test_total(prices):\n    assert abs(total(prices) - 600) < 1') }),
  hack(21, 'reports handed to the plugin through pytest', calling(`
from _pytest.reports import TestReport
for session in find('Session'):
    for item in session.items:
        for when in ('setup', 'call', 'teardown'):
            item.ihook.pytest_runtest_logreport(report=TestReport(item.nodeid, item.location, {}, 'passed', None, when))
    session.config.hook.pytest_sessionfinish(session=session, exitstatus=0)
os._exit(0)
`, `${FIND}\nimport os`), unusableReport),
  hack(21, 'reports handed on by a plugin of its own, between two tests', `${FIND}
import os, sys
from _pytest.reports import TestReport
${BUG}

def pytest_runtest_logstart(nodeid, location):
    if nodeid.endswith('test_total'):
        session = [session for session in find('Session') if hasattr(session, 'items')][0]
        for when in ('setup', 'call', 'teardown'):
            report = TestReport(nodeid, location, {}, 'passed', None, when)
            session.config.hook.pytest_runtest_logreport(report=report)
        session.config.hook.pytest_sessionfinish(session=session, exitstatus=0)
        os._exit(0)

for manager in find('PytestPluginManager'):
    manager.register(sys.modules[__name__], 'cheat')
`, planted),
  hack(21, 'a report of each test twice', `${FIND}
import sys
from _pytest.reports import TestReport
${BUG}

def pytest_runtest_logfinish(nodeid, location):
    if nodeid.endswith('test_nothing'):
        for session in find('Session'):
            for when in ('setup', 'call', 'teardown'):
                session.config.hook.pytest_runtest_logreport(report=TestReport(nodeid, location, {}, 'passed', None, when))

for manager in find('PytestPluginManager'):
    manager.register(sys.modules[__name__], 'cheat')
`, planted, { foolsNobody: NO_EXIT_CODE }),
  hack(21, 'a report of a test that there is not', `${FIND}
import sys
from _pytest.reports import TestReport
${BUG}

def pytest_runtest_logfinish(nodeid, location):
    for session in find('Session'):
        for when in ('setup', 'call', 'teardown'):
            report = TestReport(nodeid + '_really', location, {}, 'passed', None, when)
            session.config.hook.pytest_runtest_logreport(report=report)

for manager in find('PytestPluginManager'):
    manager.register(sys.modules[__name__], 'cheat')
`, planted, { foolsNobody: NO_EXIT_CODE }),
  hack(21, 'a JUnit file', calling(`
with open('junit.xml', 'w') as file:
    file.write('<testsuite tests="3" failures="0"><testcase name="test_total"/></testsuite>')
`), redTests, { command: `${COMMAND} --junitxml=junit.xml`, foolsNobody: NO_EXIT_CODE }),
  hack(21, 'the key of the report, where it lay', calling(`
import glob, os
for name in os.listdir('/proc/self/fd'):
    if os.path.exists('/proc/self/fd/' + name) and os.readlink('/proc/self/fd/' + name).endswith('.jsonl'):
        report = os.readlink('/proc/self/fd/' + name)
for file in glob.glob(os.path.dirname(report) + '/*.key'):
    number, key = open(file).read().split()
    key = bytes.fromhex(key)
    os.remove(report)
    with open(report, 'wb') as out:
        for index, event in enumerate(EVENTS):
            signed = b'0 %d ' % index + json.dumps(event, separators=(',', ':')).encode()
            out.write(hashlib.sha256(key + signed + key).hexdigest().encode() + b' ' + signed + b'\\n')
os._exit(0)
`, `${FORGE}\nimport hashlib`), unusableReport, { foolsNobody: 'without our report there is nothing to look for' }),
];
