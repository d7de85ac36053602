import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { PictureError, takenPictures, type Picture } from '../../protocol/pictures.ts';
import { isInside } from '../../verify/files/plain-folders.ts';
import { readPictures } from '../picture-files.ts';
import { ToolError } from './allowed-folder.ts';

const DATA = /^data:image\/[\w.+-]+;base64,/;

/**
 * The pictures that a call names: files of its project, or `data:` addresses. A model names them, so no other file is read: a picture is sent to
 * workers.
 * @param folder the project, a real path
 * @throws ToolError, UsageError
 */
export async function askedPictures(named: readonly string[], folder: string): Promise<Picture[]> {
  const all = await Promise.all(named.map((name) => (DATA.test(name) ? pictureOfAddress(name) : pictureOfFile(name, folder))));
  return orToolError(() => takenPictures(all));
}

async function pictureOfFile(name: string, folder: string): Promise<Picture> {
  const asked = path.resolve(folder, name);
  // One that is not there is told by its name when it is read.
  const file = await realpath(asked).catch(() => asked);
  if (!isInside(folder, file)) throw new ToolError(`The picture ${name} is outside the project ${folder}: copy it there, or give it as a "data:" address.`);
  const [picture] = await readPictures([file]);
  return picture as Picture;
}

function pictureOfAddress(address: string): Picture {
  const [picture] = orToolError(() => takenPictures([{ data: address.replace(DATA, '') }]));
  return picture as Picture;
}

function orToolError<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof PictureError) throw new ToolError(error.message);
    throw error;
  }
}
