import { expect, it } from 'vitest';
import { tellingLine } from '../../backend/protocol/telling-line.ts';

it('is the error that ends a traceback', () => {
  const message = 'ImportError: Failed to import test module: tests\nTraceback (most recent call last):\n  File "tests/__init__.py", line 9\n    import tomli\nModuleNotFoundError: No module named \'tomli\'\n\n';
  expect(tellingLine(message)).toBe('ModuleNotFoundError: No module named \'tomli\'');
});

it('is the first line of every other message', () => {
  expect(tellingLine('\n  Expected 1 to be 2\n\n    at test.js:3\n')).toBe('Expected 1 to be 2');
  expect(tellingLine('')).toBe('');
});
