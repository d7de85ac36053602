import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildAhead, layerOfPackage, usedEntries } from '../../../backend/verify/runners/go-layer.ts';
import { makeScratch } from '../setup.ts';

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

describe('a build of go that is stopped', () => {
  it('leaves what it has compiled, and says how much that is', async () => {
    await using scratch = await makeScratch();
    const [compiled, output, half] = [id('1'), id('a'), id('b')];
    const keep = await scratch.project({
      // What the user's cache had is no work of this build.
      'earlier-a': '',
      [`go-build/66/${id('6')}-a`]: { link: '../../earlier-a' },
      [`go-build/11/${compiled}-a`]: `v1 ${compiled} ${output} 3 1`,
      [`go-build/aa/${output}-d`]: 'abc',
      // Go writes an output before the entry that names it.
      [`go-build/bb/${half}-d`]: 'a',
      'hashes': LOG.slice(0, LOG.indexOf('HASH[build example.com/list_test]') + 50),
    });
    const build = await buildAhead({ command: 'go test ./...', keep, copy: keep, shown: keep, tools: keep }, []);
    expect(await build.progress?.()).toBe(1);
    expect(await build.finish?.()).toBe(true);
    const kept = (await readdir(path.join(keep, 'shared'), { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
    expect(kept.map(({ name }) => name).toSorted()).toEqual([`${compiled}-a`, `${output}-d`]);
  });
});
