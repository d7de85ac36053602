/**
 * The Python module `conductor_report`, by which our plugin for pytest and our main program for unittest write their reports.
 *
 * They run in the process of the tests, with the code that is judged, and such code can reach everything that Python can.
 * Cheating shows all the same: every line is signed, with a key that lies nowhere any more once the project's code is loaded, and
 * numbered, so that none can be left out; and while Python and the runner are loaded, no module of the copy is taken for one of
 * theirs (`python-environment.ts`). `python-watch.ts` looks after the rest.
 *
 * What remains: code that digs through this process for the key (closures, `gc`, `ctypes`), or that changes objects beneath
 * Python. It can forge a report that is perfect here, and would have to forge one for the negative control, too, in which the same
 * tests are red.
 */
export const pythonLines = ({ destination, keyFile }: { readonly destination: string; readonly keyFile: string }): string => `
# A product that replaces built-in functions is not to change how this module works.
__builtins__ = dict(vars(__import__('builtins')))

import os
import sys
from hashlib import sha256
from os import getpid, write

try:
    import fcntl
except ImportError:
    fcntl = None
try:
    from _json import encode_basestring_ascii as quoted
except ImportError:
    from json.encoder import py_encode_basestring_ascii as quoted


def take_key(path):
    """Number and key of this report. What is left in the file is the key of the next one: a command may run tests again."""
    handle = os.open(path, os.O_RDWR)
    try:
        if fcntl:
            fcntl.flock(handle, fcntl.LOCK_EX)
        number, key = os.read(handle, 1000).decode().split()
        following = sha256(bytes.fromhex(key) + b'next').hexdigest()
        os.lseek(handle, 0, os.SEEK_SET)
        os.ftruncate(handle, 0)
        write(handle, ('%d %s' % (int(number) + 1, following)).encode())
        return int(number), bytes.fromhex(key)
    finally:
        os.close(handle)


def as_json(value):
    if value is None:
        return 'null'
    if isinstance(value, (list, tuple)):
        return '[' + ','.join([as_json(item) for item in value]) + ']'
    if isinstance(value, (int, float)):
        return repr(value + 0)
    return quoted(str(value))


def open_report():
    """What writes a line of the report. In other processes, such as children that are forked, it does nothing."""
    number, key = take_key(${JSON.stringify(keyFile)})
    target = os.open(${JSON.stringify(destination)}, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    owner = getpid()
    lines = 0

    def line(**fields):
        nonlocal lines
        if getpid() != owner:
            return
        event = '{' + ','.join([quoted(name) + ':' + as_json(value) for name, value in fields.items()]) + '}'
        signed = ('%d %d %s' % (number, lines, event)).encode()
        lines += 1
        write(target, sha256(key + signed + key).hexdigest().encode() + b' ' + signed + b'\\n')

    line(type='start')
    return line


def let_go():
    """The runner is loaded: from here on the project's modules are found as ever, and ours by nobody."""
    for name in ('conductor_report', 'conductor_watch'):
        sys.modules.pop(name, None)
    ours = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if path != ours]
    sys.meta_path[:] = [finder for finder in sys.meta_path if getattr(finder, 'conductor', None) != 'runner']
    os.environ.pop('CONDUCTOR_RUNNER', None)
`;
