import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { withInstalledPrograms } from '../../backend/verify/sandbox/installed-programs.ts';
import { makeScratch } from './setup.ts';

/** The folders in `home` that follow PATH. */
function added(home: string, searchPath = '/usr/bin:/bin'): string[] {
  const whole = withInstalledPrograms(searchPath, home);
  expect(whole.startsWith(searchPath)).toBe(true);
  return whole.split(':').filter((folder) => folder.startsWith(home)).map((folder) => path.relative(home, folder));
}

it('adds the folders of version managers that exist, after PATH', async () => {
  await using scratch = await makeScratch();
  const folders = ['.pyenv/shims', '.cargo/bin', '.local/bin', '.sdkman/candidates/java/current/bin'];
  for (const folder of folders) mkdirSync(path.join(scratch.home, folder), { recursive: true });
  expect(added(scratch.home).toSorted()).toEqual(folders.toSorted());
});

it('adds only folders of the user on Windows, where other users could make the others', async () => {
  await using scratch = await makeScratch();
  for (const folder of ['scoop/shims', '.cargo/bin', '.pyenv/shims']) mkdirSync(path.join(scratch.home, folder), { recursive: true });
  const folders = withInstalledPrograms('/bin', scratch.home, 'win32').split(':').slice(1);
  expect(folders.map((folder) => path.relative(scratch.home, folder))).toEqual(['scoop/shims', '.cargo/bin']);
});

it('adds nothing twice', async () => {
  await using scratch = await makeScratch();
  mkdirSync(path.join(scratch.home, '.cargo/bin'), { recursive: true });
  const onPath = path.join(scratch.home, '.cargo/bin');
  expect(withInstalledPrograms(`/usr/bin:${onPath}`, scratch.home).split(':').filter((folder) => folder === onPath)).toHaveLength(1);
});

it.each([
  ['20', 'v20.11.1'], ['v18.2.0', 'v18.2.0'], ['lts/*', 'v22.9.0'], [undefined, 'v22.9.0'],
])('takes the node that nvm has as default (%s)', async (alias, version) => {
  await using scratch = await makeScratch();
  for (const name of ['v18.2.0', 'v20.9.0', 'v20.11.1', 'v22.9.0']) mkdirSync(path.join(scratch.home, '.nvm/versions/node', name, 'bin'), { recursive: true });
  mkdirSync(path.join(scratch.home, '.nvm/alias'), { recursive: true });
  if (alias !== undefined) writeFileSync(path.join(scratch.home, '.nvm/alias/default'), `${alias}\n`);
  expect(added(scratch.home)).toEqual([`.nvm/versions/node/${version}/bin`]);
});
