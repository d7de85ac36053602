import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { projectAbove } from '../../backend/cli/project-above.ts';
import { findTestCommands } from '../../backend/verify/runners/find-tests.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const hasTests = async (folder: string): Promise<boolean> => (await findTestCommands(folder)).length > 0;

it('is the nearest folder with tests in the same repository', async () => {
  const top = await temporaryFolder();
  const inside = path.join(top, 'packages/a/src/deep');
  await mkdir(inside, { recursive: true });
  await writeFile(path.join(top, 'package.json'), '{"scripts":{"test":"node --test"}}');
  expect(await projectAbove(inside, hasTests)).toBeUndefined();
  await mkdir(path.join(top, '.git'));
  expect(await projectAbove(inside, hasTests)).toBe(top);
  await writeFile(path.join(top, 'packages/a/package.json'), '{"scripts":{"test":"node --test"}}');
  expect(await projectAbove(inside, hasTests)).toBe(path.join(top, 'packages/a'));
  expect(await projectAbove(top, hasTests)).toBeUndefined();
});
