import { describe, expect, it } from 'vitest';
import { areAllIn, failedTests } from './failed-tests.ts';

const run = (said: string, exitCode: number | null = 1): { exitCode: number | null; seconds: number; said: string } => ({ exitCode, seconds: 1, said });
const failed = (runner: string, said: string): readonly string[] | undefined => {
  const names = failedTests(run(said), runner);
  return names && [...names];
};

describe('the tests that a bare command says failed', () => {
  it('reads them as each runner prints them', () => {
    expect(failed('pytest', `....F\n=== short test summary info ===
FAILED test_six.py::test_move_items[_dummy thread] - ModuleNotFoundError: No module
FAILED test_six.py::test_plain
ERROR tests/test_other.py - ImportError
====== 2 failed, 196 passed, 1 error in 1.21s ======\n`)).toEqual(['test_six.py::test_move_items[_dummy thread]', 'test_six.py::test_plain', 'tests/test_other.py']);
    expect(failed('unittest', 'FAIL: test_a (tests.T.test_a)\n----\nRan 3 tests in 0.1s\n\nFAILED (failures=1)\n')).toEqual(['test_a (tests.T.test_a)']);
    expect(failed('go', '--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/b (0.00s)\nFAIL\nFAIL\texample.org/a\t0.004s\nFAIL\n')).toEqual(['TestA', 'TestA/b']);
    expect(failed('cargo', 'test a::b ... FAILED\ntest c ... ok\ntest result: FAILED. 1 passed; 1 failed\n')).toEqual(['a::b']);
    expect(failed('vitest', '\x1b[31m FAIL \x1b[39m a.test.ts > adds\n\n Test Files  1 failed (1)\n      Tests  1 failed | 3 passed (4)\n')).toEqual(['a.test.ts > adds']);
    expect(failed('jest', '  ● sums › adds\n\nTests:       1 failed, 3 passed, 4 total\n')).toEqual(['sums › adds']);
    expect(failed('mocha', '    ✔ a\n    1) adds\n\n  1 passing (2ms)\n  1 failing\n')).toEqual(['adds']);
    expect(failed('ava', '  ✘ [fail]: adds (1.2s)\n  ─\n\n  1 test failed\n')).toEqual(['adds']);
    expect(failed('node-test', '✖ adds (0.5ms)\nℹ tests 2\nℹ pass 1\nℹ fail 1\n')).toEqual(['adds']);
    expect(failed('tape', 'ok 1 a\nnot ok 2 adds\nnot ok 3 later # TODO\n\n# tests 3\n# pass  1\n')).toEqual(['adds']);
    expect(failed('maven', '[ERROR] org.a.ATest.adds -- Time elapsed: 0.01 s <<< FAILURE!\n[ERROR] Tests run: 2, Failures: 1\n')).toEqual(['org.a.ATest.adds']);
  });

  it('names none where the tests are green and another part of the command is red', () => {
    expect(failed('vitest', '      Tests  4 passed (4)\nsh: 1: yarn: not found\n')).toEqual([]);
    expect(failedTests(run('', 0), 'unknown')).toEqual(new Set());
  });

  it('knows nothing where no runner came to its end', () => {
    expect(failed('pytest', 'ImportError while loading conftest\n')).toBeUndefined();
    expect(failed('unknown', '--- FAIL: TestA\n')).toBeUndefined();
    expect(failedTests(run('--- FAIL: TestA\nFAIL\ta\t0.1s\n', null), 'go')).toBeUndefined();
  });

  it('compares them', () => {
    expect(areAllIn(new Set(['a']), new Set(['a', 'b']))).toBe(true);
    expect(areAllIn(new Set(['a', 'c']), new Set(['a', 'b']))).toBe(false);
  });
});
