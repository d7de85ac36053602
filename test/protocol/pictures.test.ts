import { describe, expect, it, test } from 'vitest';
import { readPictureFacts } from '../../backend/common/picture-facts.ts';
import { checkPictures, MAX_PICTURE_BYTES, pictureOf, PictureError, pictureWords, seesPictures, takenPictures } from '../../backend/protocol/pictures.ts';
import { gif, jpeg, png, webp } from '../support/picture-bytes.ts';

describe('what a picture is', () => {
  it.each([
    ['a PNG', png(800, 600), 'image/png'], ['a GIF', gif(800, 600), 'image/gif'], ['a JPEG', jpeg(800, 600), 'image/jpeg'],
    ['a lossy WebP', webp.lossy(800, 600), 'image/webp'], ['a lossless WebP', webp.lossless(800, 600), 'image/webp'],
    ['an extended WebP', webp.extended(800, 600), 'image/webp'],
  ])('is read from the bytes of %s', (_name, bytes, type) => {
    expect(readPictureFacts(bytes)).toEqual({ type, width: 800, height: 600 });
    // Also where it lies within a larger buffer.
    const larger = new Uint8Array(bytes.length + 7);
    larger.set(bytes, 7);
    expect(readPictureFacts(larger.subarray(7))).toEqual({ type, width: 800, height: 600 });
  });

  it.each([
    ['nothing', new Uint8Array()], ['text', new TextEncoder().encode('<svg xmlns="http://www.w3.org/2000/svg"/>')],
    ['a PNG without a size', png(0, 600)], ['a PNG that is cut off', png(800, 600).subarray(0, 20)], ['a JPEG that is cut off', jpeg(800, 600).subarray(0, 20)],
    ['a JPEG whose segment has no length', new Uint8Array([0xff, 0xd8, 0xff, 0xe1, 0, 0, 0, 0])], ['a sound', new TextEncoder().encode('RIFF....WAVEfmt ')],
  ])('is not read from %s', (_name, bytes) => {
    expect(readPictureFacts(bytes)).toBeUndefined();
  });
});

describe('pictures of a question', () => {
  it('keep their bytes, and say in words what they are', () => {
    const picture = pictureOf(png(800, 600));
    expect(Buffer.from(picture.data, 'base64')).toEqual(Buffer.from(png(800, 600)));
    expect(pictureWords(picture)).toBe('PNG, 800 x 600');
  });

  it.each([
    ['no picture', new TextEncoder().encode('hello'), 'Models do not take this kind of file. They take PNG, JPEG, WebP and GIF.'],
    ['too many bytes', png(800, 600, MAX_PICTURE_BYTES + 1), 'The picture has 3.76 MB, and models take at most 3.75 MB: make it smaller.'],
    ['too many pixels', png(8_001, 600), 'The picture has 8001 × 600 pixels, and models take at most 8000 on a side: make it smaller.'],
  ])('are refused with %s', (_name, bytes, message) => {
    expect(() => pictureOf(bytes)).toThrow(new PictureError(message));
  });

  it('are four at most, and have six megabytes at most', () => {
    const small = pictureOf(png(8, 8));
    expect(() => checkPictures(Array(4).fill(small))).not.toThrow();
    expect(() => checkPictures(Array(5).fill(small))).toThrow('A question takes at most 4 pictures.');
    const large = pictureOf(png(800, 600, MAX_PICTURE_BYTES));
    expect(() => checkPictures([large, large])).toThrow('The pictures have 7.5 MB together, and a question takes at most 6 MB');
  });

  it('are what their bytes say, whatever a client says of them', () => {
    const told = { ...pictureOf(gif(10, 20)), type: 'image/png' as const, width: 1, height: 1 };
    expect(takenPictures([told])).toEqual([pictureOf(gif(10, 20))]);
    for (const data of ['', 'no base64!', btoa('hello')]) expect(() => takenPictures([{ data }])).toThrow(PictureError);
  });
});

test('a worker sees pictures where a try showed it; of others only those of Anthropic\'s own API', () => {
  expect(seesPictures({ provider: 'openai-compatible', pictures: true })).toBe(true);
  expect(seesPictures({ provider: 'openai' })).toBe(false);
  expect(seesPictures({ provider: 'anthropic' })).toBe(true);
  expect(seesPictures({ provider: 'anthropic', pictures: false })).toBe(false);
  expect(seesPictures({ provider: 'anthropic', baseUrl: 'http://127.0.0.1:1' })).toBe(false);
  expect(seesPictures({ provider: 'local', pictures: true })).toBe(false);
});
