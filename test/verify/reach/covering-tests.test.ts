import { describe, expect, it } from 'vitest';
import { coveringTests } from '../../../backend/verify/reach/covering-tests.ts';
import type { Coverage } from '../../../backend/verify/runners/coverage.ts';

const CODE = ['RATE = 2', '', 'def total(rows):', '    def one(row):', '        return row * RATE', '    return sum(map(one, rows))', '', 'def unused():', '    return 1', ''].join('\n');
const COVERAGE: Coverage = {
  keys: new Map(), beyond: new Set(['t > starts a program']),
  functions: new Map([['shop.py', [
    { body: 4, last: 6, tests: new Set(['t > adds', 't > adds nothing']), isCalledOutside: false },
    { body: 5, last: 5, tests: new Set(['t > adds']), isCalledOutside: false },
    { body: 9, last: 9, tests: new Set(), isCalledOutside: false },
  ]], ['app.py', [{ body: 1, last: 3, tests: new Set(['t > adds']), isCalledOutside: true }]]]),
};
const reaching = (after: string | null, path = 'shop.py', before: string | null = CODE) => {
  const found = coveringTests([{ path, before, after }], COVERAGE);
  return found && [...found].filter((id) => id !== 't > starts a program');
};

describe('tests that call what is changed', () => {
  it('are those of the innermost function around it, and those that start programs', () => {
    expect(coveringTests([{ path: 'shop.py', before: CODE, after: CODE.replace('row * RATE', 'row + RATE') }], COVERAGE)).toEqual(new Set(['t > starts a program', 't > adds']));
    expect(reaching(CODE.replace('sum(map', 'max(map'))).toEqual(['t > adds', 't > adds nothing']);
    expect(reaching(CODE.replace('    return sum', '    rows = rows[1:]\n    return sum'))).toEqual(['t > adds', 't > adds nothing']);
  });

  it('are none where no test calls it, or loads its file', () => {
    expect(reaching(CODE.replace('return 1', 'return 2'))).toEqual([]);
    expect(reaching('b = 2\n', 'setup.py', 'b = 1\n')).toEqual([]);
  });

  it('are not told outside of functions, of several functions at once, or of one that runs when no test does', () => {
    expect(reaching(CODE.replace('RATE = 2', 'RATE = 3'))).toBeUndefined();
    expect(reaching(CODE.replace('def total(rows)', 'def total(rows=())'))).toBeUndefined();
    expect(reaching(CODE.replace('sum(map', 'max(map').replace('return 1', 'return 2'))).toBeUndefined();
    expect(reaching('a\nB\nc\n', 'app.py', 'a\nb\nc\n')).toBeUndefined();
  });

  it('are not told of a file that comes or goes, or of another language', () => {
    expect(reaching(null)).toBeUndefined();
    expect(reaching('a = 1\n', 'new.py', null)).toBeUndefined();
    expect(reaching('{}', 'data.json', '[]')).toBeUndefined();
  });
});
