import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sameOutput } from '../../../backend/verify/graders/code/compare-output.ts';
import { sameValue } from '../../../backend/verify/graders/code/compare-value.ts';

describe('written output', () => {
  it.each([
    ['3', '3\n'],
    ['1 2\n3', '  1 2  \n3  \n\n'],
    ['1 2', '1   2'],
    ['0.5', '0.50'],
    ['1e3', '1000.0'],
    ['-0', '0'],
    ['+7', '7'],
    ['inf', 'Infinity'],
    ['50000000000000000000001', '50000000000000000000001.0'],
    ['', '\n'],
    ['a\r\nb', 'a\nb'],
  ])('%j is the same as %j', (one, other) => {
    expect(sameOutput(one, other)).toBe(true);
    expect(sameOutput(other, one)).toBe(true);
  });

  it.each([
    ['3', '4'],
    ['3', '3\n3'],
    ['1\n\n2', '1\n2'],
    ['yes', 'YES'],
    ['a b', 'a  b'],
    ['0.1', '0.10000001'],
    ['50000000000000000000001', '50000000000000000000002'],
    ['nan', 'nan0'],
    ['nan x', 'nan  x'],
    ['1 2', '12'],
    ['5', ''],
    ['0x10', '16'],
  ])('%j is not %j', (one, other) => {
    expect(sameOutput(one, other)).toBe(false);
  });

  it('of whole numbers is the same only where the numbers are', () => {
    fc.assert(
      fc.property(fc.bigInt(), fc.bigInt(), (one, other) => {
        expect(sameOutput(`${one}`, `${other}.000`)).toBe(one === other);
      }),
    );
  });
});

describe('returned values', () => {
  it.each([
    ['[1,2,3]', '[1, 2, 3]'],
    ['2', '2.0'],
    ['1', 'true'],
    ['{"a":1,"b":[2]}', '{"b":[2],"a":1}'],
    ['"x"', '"\\u0078"'],
    ['123456789012345678901234567890', '123456789012345678901234567890'],
    ['Infinity', '1e999'],
    ['"NaN"', '"NaN"'],
    ['"a\\"Infinity"', '"a\\"Infinity"'],
    ['null', 'null'],
    ['0.1', '1e-1'],
  ])('%s is the same as %s', (one, other) => {
    expect(sameValue(one, other)).toBe(true);
  });

  it.each([
    ['[1,2,3]', '[1,2]'],
    ['1', '"1"'],
    ['0.3', '0.30000000000000004'],
    ['123456789012345678901234567890', '123456789012345678901234567891'],
    ['9007199254740993', '9007199254740992.0'],
    ['{"a":1}', '{"a":1,"b":2}'],
    ['{"__proto__":1}', '{}'],
    ['NaN', 'NaN'],
    ['null', '0'],
    ['[]', '{}'],
    ['""', 'null'],
    ['1', ''],
    ['1', '1 2'],
  ])('%s is not %s', (one, other) => {
    expect(sameValue(one, other)).toBe(false);
  });

  it('are the same as themselves, and are not with one thing changed', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(sameValue(JSON.stringify(value), JSON.stringify(value))).toBe(true);
        expect(sameValue(JSON.stringify(value), JSON.stringify([value]))).toBe(false);
      }),
    );
  });
});
