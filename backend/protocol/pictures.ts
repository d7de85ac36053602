import * as l10n from '@vscode/l10n';
import { bytesOfBase64, PICTURE_TYPES, readPictureFacts, type PictureFacts, type PictureType } from '../common/picture-facts.ts';
import { isServerProvider } from './providers.ts';
import type { WorkerConfig } from './worker-config.ts';

export { bytesOfBase64, PICTURE_TYPES, readPictureFacts };

/* Pictures that come with a question. Without a schema, because the panel's page reads pictures, too. */

export interface Picture extends PictureFacts {
  /** Base64. Empty for a picture of an earlier question that is not shown again. */
  readonly data: string;
}

export const MAX_PICTURES = 4;
/** 5 MiB in base64, the most that Anthropic's API takes (https://platform.claude.com/docs/en/build-with-claude/vision). */
export const MAX_PICTURE_BYTES = 3_932_160;
/** Of all pictures of a question, so that it fits into one message to the backend. */
export const MAX_PICTURES_BYTES = 6_291_456;
/** Pixels of a side, as in Anthropic's API. */
export const MAX_PICTURE_SIDE = 8_000;

/** Why a file cannot go with a question, in one sentence. */
export class PictureError extends Error {
  override readonly name = 'PictureError';
}

/**
 * The picture of a file.
 * @param size of the whole file, where only its beginning was read
 * @throws PictureError
 */
export function pictureOf(bytes: Uint8Array, size = bytes.length): Picture {
  const facts = readPictureFacts(bytes);
  if (!facts) throw new PictureError(l10n.t('Models do not take this kind of file. They take PNG, JPEG, WebP and GIF.'));
  if (size > MAX_PICTURE_BYTES) {
    throw new PictureError(l10n.t('The picture has {0} MB, and models take at most {1} MB: make it smaller.', megabytes(size), megabytes(MAX_PICTURE_BYTES)));
  }
  if (facts.width > MAX_PICTURE_SIDE || facts.height > MAX_PICTURE_SIDE) {
    throw new PictureError(l10n.t('The picture has {0} × {1} pixels, and models take at most {2} on a side: make it smaller.', facts.width, facts.height, MAX_PICTURE_SIDE));
  }
  return { ...facts, data: base64Of(bytes) };
}

/** Whether a question may have all these pictures. @throws PictureError */
export function checkPictures(pictures: readonly Pick<Picture, 'data'>[]): void {
  if (pictures.length > MAX_PICTURES) throw new PictureError(l10n.t('A question takes at most {0} pictures.', MAX_PICTURES));
  const all = bytesOfPictures(pictures);
  if (all <= MAX_PICTURES_BYTES) return;
  throw new PictureError(l10n.t('The pictures have {0} MB together, and a question takes at most {1} MB: leave one out, or make one smaller.', megabytes(all), megabytes(MAX_PICTURES_BYTES)));
}

/** The pictures as they are taken over from a client: what is said of each is read from its bytes again. @throws PictureError */
export function takenPictures(pictures: readonly Pick<Picture, 'data'>[]): Picture[] {
  checkPictures(pictures);
  return pictures.map(({ data }) => {
    const bytes = bytesOfBase64(data);
    if (!bytes) throw new PictureError(l10n.t('Models do not take this kind of file. They take PNG, JPEG, WebP and GIF.'));
    return pictureOf(bytes);
  });
}

/** Named, and not shown. */
export const withoutData = (pictures: readonly Picture[]): Picture[] => pictures.map((picture) => ({ ...picture, data: '' }));

/** Bytes of the files. */
export function bytesOfPictures(pictures: readonly Pick<Picture, 'data'>[]): number {
  return pictures.reduce((sum, { data }) => sum + Math.floor(data.length * 3 / 4), 0);
}

/** Rounded up, so that what is too large does not look as large as it may be. */
function megabytes(bytes: number): string {
  return (Math.ceil(bytes / 10_485.76) / 100).toFixed(2).replace(/\.?0+$/, '');
}

/** Characters that `String.fromCharCode` is called with at once. */
const CHUNK = 32_768;

function base64Of(bytes: Uint8Array): string {
  let text = '';
  // Spreading goes through an iterator, which takes six times as long.
  for (let at = 0; at < bytes.length; at += CHUNK) text += String.fromCharCode.apply(undefined, bytes.subarray(at, at + CHUNK) as unknown as number[]);
  return btoa(text);
}

/** A picture in words, such as `PNG, 800 x 600`. */
export function pictureWords({ type, width, height }: PictureFacts): string {
  return `${NAMES[type]}, ${width} x ${height}`;
}

const NAMES: Readonly<Record<PictureType, string>> = { 'image/png': 'PNG', 'image/jpeg': 'JPEG', 'image/webp': 'WebP', 'image/gif': 'GIF' };

/**
 * Whether a worker is shown pictures. Only servers are sent any, and it is tried when a worker is added. All models of Anthropic's own API take
 * them (https://platform.claude.com/docs/en/build-with-claude/vision), so that workers of an earlier version need no new try there.
 */
export function seesPictures({ provider, baseUrl, pictures }: Pick<WorkerConfig, 'provider' | 'baseUrl' | 'pictures'>): boolean {
  return isServerProvider(provider) && (pictures ?? (provider === 'anthropic' && baseUrl === undefined));
}
