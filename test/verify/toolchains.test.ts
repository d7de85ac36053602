import { mkdir, realpath, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { GO_BUILD_CACHE, readableToolchains } from '../../backend/verify/sandbox/toolchains.ts';
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

  it('is known by the folder itself where PATH names a link to it, which may lie where nothing can be seen', async () => {
    await using scratch = await makeScratch();
    const real = path.join(scratch.home, '.local/share/fnm/node-versions/v24/bin');
    await mkdir(real, { recursive: true });
    const link = path.join(scratch.folder, 'shell-of-fnm');
    await symlink(path.dirname(real), link);
    const { searchPath, allowed } = await readableToolchains(`${link}/bin:/usr/bin`, scratch.home, [scratch.folder]);
    expect(searchPath).toBe(`${real}:${await realpath('/usr/bin')}`);
    expect(allowed).toContain(path.join(scratch.home, '.local/share/fnm'));
  });

  it('is also the toolchain that PATH has only a link into', async () => {
    await using scratch = await makeScratch();
    const [bin, elsewhere] = [path.join(scratch.folder, 'system/bin'), path.join(scratch.folder, 'data/python-3.13/bin')];
    for (const folder of [bin, elsewhere]) await mkdir(folder, { recursive: true });
    await writeFile(path.join(elsewhere, 'python3.13'), '');
    await symlink(path.join(elsewhere, 'python3.13'), path.join(bin, 'python3'));
    const { allowed } = await readableToolchains(bin, scratch.home, [path.join(scratch.folder, 'data')]);
    expect(allowed).toEqual([path.join(scratch.folder, 'data/python-3.13')]);
  });

  it.each([
    ['/home/linuxbrew/.linuxbrew/bin', '/home/linuxbrew/.linuxbrew'],
    ['/home/other/.pyenv/shims', '/home/other/.pyenv'],
    ['/home/other/bin', '/home/other/bin'],
    ['/root/.cargo/bin', '/root/.cargo'],
    ['/run/current/sw/bin', '/run/current/sw'],
  ])('of other hidden folders is, for %s on PATH, %s', async (entry, readable) => {
    await using scratch = await makeScratch();
    expect((await readableToolchains(entry, scratch.home, ['/home', '/root', '/run'])).allowed).toEqual([readable]);
  });

  it('tells programs where their folders are, and go alone where it has compiled packages', async () => {
    await using scratch = await makeScratch();
    for (const folder of ['.rustup', '.cache/go-build', '.m2']) await mkdir(path.join(scratch.home, folder), { recursive: true });
    const { environment } = await readableToolchains('/usr/bin', scratch.home);
    expect(environment).toEqual({
      RUSTUP_HOME: path.join(scratch.home, '.rustup'),
      MAVEN_USER_HOME: path.join(scratch.home, '.m2'),
      [GO_BUILD_CACHE]: path.join(scratch.home, '.cache/go-build'),
    });
  });

  it('is never all of it', async () => {
    await using scratch = await makeScratch();
    expect((await readableToolchains(`${scratch.home}:/`, scratch.home)).allowed).toEqual([]);
  });
});
