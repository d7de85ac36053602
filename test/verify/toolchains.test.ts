import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readableToolchains } from '../../backend/verify/toolchains.ts';
import { makeScratch } from './setup.ts';

describe('what stays readable of the home folder', () => {
  it.each([
    ['.nvm/versions/node/v24/bin', '.nvm'],
    ['.cargo/bin', '.cargo'],
    ['tools/node-24/bin', 'tools/node-24'],
    ['go/bin', 'go'],
    ['.local/bin', '.local/bin'],
    ['bin', 'bin'],
    ['scripts', 'scripts'],
  ])('for %s on PATH is %s', async (entry, readable) => {
    await using scratch = await makeScratch();
    await mkdir(path.join(scratch.home, entry), { recursive: true });
    const { allowed } = await readableToolchains(`/usr/bin:relative:${scratch.home}/${entry}`, scratch.home);
    expect(allowed).toEqual([path.join(scratch.home, readable)]);
  });

  it('is never all of it', async () => {
    await using scratch = await makeScratch();
    expect((await readableToolchains(`${scratch.home}:/`, scratch.home)).allowed).toEqual([]);
  });
});
