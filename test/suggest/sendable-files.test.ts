import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { SendableFiles } from '../../backend/suggest/sendable-files.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let folder: string;
let now: number;
let files: SendableFiles;
const write = (file: string, text: string): Promise<void> => writeFile(path.join(folder, file), text);

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'conductor-sendable-'));
  now = 100_000;
  files = new SendableFiles({ ripgrepPath: rgPath, now: () => now });
  await write('a.js', '1;\n');
});
afterEach(() => rm(folder, { recursive: true }));

it('a file that was made a moment ago may be sent, although the list is older', async () => {
  expect(await files.whyNot(folder, 'a.js')).toBeUndefined();
  await write('b.js', '2;\n');
  expect(await files.whyNot(folder, 'b.js')).toBeUndefined();
});

it('a file that an ignore file names from now on is not sent once the list is a quarter of a minute old', async () => {
  expect(await files.whyNot(folder, 'a.js')).toBeUndefined();
  await write('.conductorignore', 'a.js\n');
  now += 15_000;
  expect(await files.whyNot(folder, 'a.js')).toContain('ignored by');
  // And is again when it no longer is.
  await write('.conductorignore', '');
  now += 15_000;
  expect(await files.whyNot(folder, 'a.js')).toBeUndefined();
});

it.each([
  ['.gitignore', undefined], ['.conductorignore', undefined], ['.gitignore', '/there/is/no/ripgrep'],
])('where nobody can read %s (ripgrep: %s), nothing is sent', async (ignoreFile, ripgrepPath) => {
  const blind = new SendableFiles({ ripgrepPath });
  await write(ignoreFile, 'a.js\n');
  expect(await blind.whyNot(folder, 'a.js')).toBe('could not be checked against the ignore files');
});

it.each([
  ['fails', 'exit 2', {}], ['takes too long', 'exec sleep 600', { listingTimeoutMs: 1_000 }],
])('a tool that %s is not started again for every key, but a quarter of a minute later', async (_name, end, limits) => {
  const tool = await temporaryFolder();
  const ripgrepPath = path.join(tool, 'rg');
  await writeFile(ripgrepPath, `#!/bin/sh\necho started >> ${tool}/log\n${end}\n`, { mode: 0o755 });
  const starts = async () => (await readFile(path.join(tool, 'log'), 'utf8')).split('\n').length - 1;
  const slow = new SendableFiles({ ripgrepPath, now: () => now, ...limits });
  const keys = () => Promise.all([slow.whyNot(folder, 'a.js'), slow.whyNot(folder, 'b.js')]);
  for (const refusals of [await keys(), await keys()]) {
    expect(refusals).toEqual(['could not be checked against the ignore files', 'could not be checked against the ignore files']);
  }
  expect(await starts()).toBe(1);
  now += 15_000;
  await keys();
  expect(await starts()).toBe(2);
});
