import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it, test } from 'vitest';
import { solveRequest } from '../../backend/cli/arguments.ts';
import { readPictures } from '../../backend/cli/picture-files.ts';
import { UsageError } from '../../backend/cli/usage-error.ts';
import { MAX_PICTURE_BYTES, pictureOf } from '../../backend/protocol/pictures.ts';
import { gif, png } from '../support/picture-bytes.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/* Pictures that the command line is given. */

test('--picture names files from where the user stands', () => {
  expect(solveRequest(['why?', '-p', 'shot.png', '--picture', '/tmp/b.gif'], '/home/ada/project').pictures).toEqual(['/home/ada/project/shot.png', '/tmp/b.gif']);
  expect(solveRequest(['why?'], '/home/ada').pictures).toEqual([]);
});

test('the files are read in their order, whatever they are called', async () => {
  const folder = await temporaryFolder();
  const [first, second] = [path.join(folder, 'a'), path.join(folder, 'b.png')];
  await writeFile(first, png(800, 600));
  await writeFile(second, gif(10, 20));
  expect(await readPictures([first, second])).toEqual([pictureOf(png(800, 600)), pictureOf(gif(10, 20))]);
});

it.each([
  ['that is none', 'no.png', async (file: string) => writeFile(file, 'hello'), 'Models do not take this kind of file. They take PNG, JPEG, WebP and GIF.'],
  ['that is too large', 'large.png', async (file: string) => writeFile(file, png(8, 8, MAX_PICTURE_BYTES * 2)), 'The picture has 7.5 MB, and models take at most 3.75 MB: make it smaller.'],
  ['that is not there', 'none.png', async () => {}, 'there is no such file.'],
  ['that is a folder', 'folder', async (file: string) => mkdir(file), 'that is a folder.'],
])('a picture %s is refused by its name', async (_name, name, make, message) => {
  const file = path.join(await temporaryFolder(), name);
  await make(file);
  await expect(readPictures([file])).rejects.toThrow(UsageError);
  await expect(readPictures([file])).rejects.toThrow(`--picture ${file}: `);
  await expect(readPictures([file])).rejects.toThrow(message);
});

test('more than four are refused', async () => {
  const file = path.join(await temporaryFolder(), 'a.png');
  await writeFile(file, png(8, 8));
  await expect(readPictures(Array<string>(5).fill(file))).rejects.toThrow('--picture: A question takes at most 4 pictures.');
});
