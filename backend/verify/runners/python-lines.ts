/**
 * The Python module `conductor_report`. Our pytest plugin and our main program for unittest write their reports with it.
 *
 * They run in the same process as the judged code, which can access everything in Python. Three measures expose a forged report. Each
 * line is signed with a key that is removed from its file before the project's code is loaded. Lines are numbered, so none can be left
 * out. While Python and the runner are loaded, no module of the copy can replace one of theirs (`python-environment.ts`).
 * `python-watch.ts` detects other changes.
 *
 * Remaining gaps: code that searches this process for the key (closures, `gc`, `ctypes`), or that changes objects below the level of
 * Python. It can forge a perfect report, but must also forge the one of the negative control, in which the same tests must fail.
 */
export const pythonLines = ({ destination, keyFile }: { readonly destination: string; readonly keyFile: string }): string => `
# Own built-in functions, so that a product that replaces them does not affect this module.
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
    """Number and key of this report. Leaves the next report's key in the file, because a command may run tests again."""
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
    """Returns a function that writes a line of the report. In other processes, such as forked children, it does nothing."""
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
    """Called once the runner is loaded. From then on the project's modules are found as usual, and ours are not found."""
    for name in ('conductor_report', 'conductor_watch', 'conductor_coverage'):
        sys.modules.pop(name, None)
    ours = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if path != ours]
    sys.meta_path[:] = [finder for finder in sys.meta_path if getattr(finder, 'conductor', None) != 'runner']
    os.environ.pop('CONDUCTOR_RUNNER', None)
`;
