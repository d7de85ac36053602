import { describe, expect, it } from 'vitest';
import { layerOfPackage, usedEntries } from '../../../backend/verify/runners/go-layer.ts';

const id = (digit: string): string => digit.repeat(64);

/** As `GODEBUG=gocachehash=1` prints it. */
const LOG = `HASH[moduleIndex]
HASH[moduleIndex]: "go1.26.8"
HASH[moduleIndex]: ${id('0')}
HASH[build example.com/list]: "compile\\n"
HASH[build example.com/list]: ${id('1')}
HASH subkey ${id('1')} "srcfiles" = ${id('2')}
HASH[build example.com/list_test]: ${id('3')}
HASH[build example.com/list.test]: ${id('4')}
HASH[vet example.com/list]: ${id('5')}
HASH[build fmt]: ${id('6')}
HASH[build example.com/sums_test]: ${id('7')}
HASH /usr/local/go/src/fmt/print.go: ${id('8')}
ok  	example.com/list	0.003s
`;

describe('what go asked its cache for', () => {
  it('lies in a folder of each package with tests, with these tests, and else in one for all', () => {
    const used = [...usedEntries(LOG)].map(([folder, ids]) => [folder, [...ids].map((one) => one.slice(0, 1)).join('')]);
    expect(Object.fromEntries(used)).toEqual({ [layerOfPackage('example.com/list')]: '13452', 'shared': '067' });
  });

  it('is nothing where go says nothing', () => {
    expect(usedEntries('go: cannot find main module\n').size).toBe(0);
  });
});
