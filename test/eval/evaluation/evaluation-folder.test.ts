import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { takeFolder } from '../../../backend/eval/evaluation/evaluation-folder.ts';

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'conductor-evaluation-folder-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

it('makes the folder of an evaluation, and takes it again, also where only its request was kept', async () => {
  const folder = path.join(await newFolder(), 'a', 'b');
  await takeFolder(folder);
  await writeFile(path.join(folder, 'evaluation.json'), '{}');
  await writeFile(path.join(folder, 'samples.jsonl'), '');
  await takeFolder(folder);
});

it.each(['results.json', 'tasks.jsonl', 'plot.svg'])('writes nothing over a "%s" that is of no evaluation', async (name) => {
  const folder = await newFolder();
  await writeFile(path.join(folder, name), 'precious');
  await expect(takeFolder(folder)).rejects.toThrow(`"${name}" in it is of no evaluation and would be overwritten. Choose another one with --out.`);
  expect(await readFile(path.join(folder, name), 'utf8')).toBe('precious');
});

it('takes a folder with other files', async () => {
  const folder = await newFolder();
  await writeFile(path.join(folder, 'notes.txt'), 'mine');
  await takeFolder(folder);
});

it('says of a file that it is no folder', async () => {
  const file = path.join(await newFolder(), 'file');
  await writeFile(file, '');
  for (const wanted of [file, path.join(file, 'below')]) {
    await expect(takeFolder(wanted)).rejects.toThrow(`The folder ${wanted} cannot be used: there is a file of that name, or of a folder above it.`);
  }
});

// Root may write anywhere.
it.skipIf(process.platform === 'win32' || process.getuid?.() === 0)('says where there are no rights', async () => {
  const closed = path.join(await newFolder(), 'closed');
  await mkdir(closed);
  await chmod(closed, 0o500);
  for (const wanted of [closed, path.join(closed, 'below')]) await expect(takeFolder(wanted)).rejects.toThrow('you have no right to write there');
});
