import { expect, it } from 'vitest';
import { ownFrames } from '../../backend/solve/own-frames.ts';

it('leaves out the frames of Python’s own files, with their code', () => {
  expect(ownFrames(`ImportError: Failed to import test module: tests
Traceback (most recent call last):
  File "/usr/lib/python3.11/unittest/loader.py", line 362, in _get_module_from_name
    __import__(name)
    ^^^^^^^^^^^^^^^^
  File "tests/__init__.py", line 9, in <module>
    import tomli
ModuleNotFoundError: No module named 'tomli'`)).toBe(`ImportError: Failed to import test module: tests
Traceback (most recent call last):
  File "tests/__init__.py", line 9, in <module>
    import tomli
ModuleNotFoundError: No module named 'tomli'`);
});

it('leaves out the frames of Node’s own files, and keeps those of the project', () => {
  const message = 'Expected 1 to be 2\n\n    at merge (src/merge.js:3:9)\n    at process.processImmediate (node:internal/timers:483:21)\n    at run (/usr/lib/runner.js:1:1)';
  expect(ownFrames(message)).toBe('Expected 1 to be 2\n\n    at merge (src/merge.js:3:9)');
});

it('leaves every other message as it is', () => {
  const message = 'merge_test.go:12: got [1 2]\n    want [1 3]';
  expect(ownFrames(message)).toBe(message);
});
