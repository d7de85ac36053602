import { checkPictures, MAX_PICTURE_BYTES, pictureOf, PictureError, readPictureFacts, type Picture } from '../backend/protocol/pictures.ts';

/** Pixels of the longer side to which a picture that is too large is made smaller. No provider looks at more (https://platform.claude.com/docs/en/build-with-claude/vision). */
const FITTED_SIDE = 2_576;

/** Whether a file that was dropped, pasted or chosen says that it is a picture; its bytes tell whether it is one. */
export const isPictureFile = ({ type }: File): boolean => type.startsWith('image/');

/** The pictures with those of the files. @throws PictureError for a file that cannot go with a question; none is added then */
export async function withFiles(pictures: readonly Picture[], files: readonly File[]): Promise<Picture[]> {
  const added = await Promise.all(files.map(pictureOfFile));
  const all = [...new Map([...pictures, ...added].map((picture) => [picture.data, picture])).values()];
  checkPictures(all);
  return all;
}

/** Picture files are small enough to be read whole; others are refused unread. */
const MAX_READ_BYTES = 64 * 1_048_576;

async function pictureOfFile(file: File): Promise<Picture> {
  const bytes = new Uint8Array(await file.slice(0, MAX_READ_BYTES).arrayBuffer());
  try {
    return pictureOf(bytes, file.size);
  } catch (error) {
    const isTooLarge = error instanceof PictureError && file.size <= MAX_READ_BYTES && readPictureFacts(bytes) !== undefined;
    const smaller = isTooLarge ? await madeSmaller(file) : undefined;
    if (!smaller) throw error;
    return pictureOf(smaller);
  }
}

/** A picture that is too large, drawn anew; undefined for one that cannot be drawn, or that drawing makes no smaller. */
async function madeSmaller(file: File): Promise<Uint8Array | undefined> {
  const image = await createImageBitmap(file).catch(() => undefined);
  if (!image) return undefined;
  const { width, height } = image;
  const scale = Math.min(1, FITTED_SIDE / Math.max(width, height));
  const canvas = new OffscreenCanvas(Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale)));
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  image.close();
  for (const type of ['image/png', 'image/jpeg']) {
    const blob = await canvas.convertToBlob({ type, quality: 0.9 });
    if (blob.size <= MAX_PICTURE_BYTES) return new Uint8Array(await blob.arrayBuffer());
  }
  return undefined;
}
