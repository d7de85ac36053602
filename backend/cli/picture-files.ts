import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { checkPictures, MAX_PICTURE_BYTES, pictureOf, PictureError, type Picture } from '../protocol/pictures.ts';
import { readAtMost } from '../common/read-at-most.ts';
import { UsageError } from './usage-error.ts';

/** The pictures of files. @param files absolute paths @throws UsageError that names the file */
export async function readPictures(files: readonly string[]): Promise<Picture[]> {
  const pictures = await Promise.all(files.map((file) => orUsageError(async () => pictureOf(await beginningOf(file), (await stat(file)).size), file)));
  await orUsageError(() => checkPictures(pictures));
  return pictures;
}

/** Reads one byte more than the limit, which is enough to tell that a file is too large. */
async function beginningOf(file: string): Promise<Uint8Array> {
  const { bytes } = await readAtMost(createReadStream(file, { end: MAX_PICTURE_BYTES }), MAX_PICTURE_BYTES);
  return bytes;
}

async function orUsageError<T>(work: () => T | Promise<T>, file?: string): Promise<T> {
  const of = file === undefined ? '--picture' : `--picture ${file}`;
  try {
    return await work();
  } catch (error) {
    if (error instanceof PictureError) throw new UsageError(`${of}: ${error.message}`);
    const { code, message } = error as NodeJS.ErrnoException;
    throw new UsageError(`${of}: ${REASONS[code ?? ''] ?? message}`);
  }
}

const REASONS: Readonly<Record<string, string>> = { ENOENT: 'there is no such file.', EACCES: 'the file may not be read.', EISDIR: 'that is a folder.' };
