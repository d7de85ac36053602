import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { aboveText, projectAbove } from '../../backend/cli/project-above.ts';
import { findTestCommands } from '../../backend/verify/runners/find-tests.ts';
import { likelyCommands } from '../../backend/verify/runners/likely-commands.ts';
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

it('is named with what is known of its tests, as in a repository whose packages are tested together', async () => {
  const top = await temporaryFolder();
  const inside = path.join(top, 'packages/stringify');
  await mkdir(path.join(top, '.git'));
  await mkdir(inside, { recursive: true });
  const said = () => aboveText(inside, async (folder) => ({ found: await findTestCommands(folder), likely: await likelyCommands(folder) }));
  expect(await said()).toBe('');
  await writeFile(path.join(top, 'package.json'), JSON.stringify({ scripts: { test: 'npm run build && npm run test-api', 'test-api': 'node test/index.js' } }));
  expect(await said()).toBe(` A folder above it seems to have tests: --workspace ${top}`);
  await writeFile(path.join(top, 'package.json'), '{"scripts":{"test":"node --test"}}');
  expect(await said()).toBe(` A folder above it has tests: --workspace ${top}`);
});
