/* Pictures of each type as small as they come: their headers are whole, their pixels need not be. */

const ascii = (text: string): number[] => [...text].map((character) => character.charCodeAt(0));
const big = (value: number, bytes: number): number[] => Array.from({ length: bytes }, (_none, index) => (value >>> (8 * (bytes - 1 - index))) & 0xff);
const little = (value: number, bytes: number): number[] => big(value, bytes).toReversed();

export function png(width: number, height: number, size = 64): Uint8Array {
  const header = [...ascii('\x89PNG\r\n\x1a\n'), ...big(13, 4), ...ascii('IHDR'), ...big(width, 4), ...big(height, 4), 8, 2, 0, 0, 0];
  return padded(header, size);
}

export const gif = (width: number, height: number): Uint8Array => padded([...ascii('GIF89a'), ...little(width, 2), ...little(height, 2)], 32);

/** A camera's: before the frame come an APP1 segment, fill bytes and a table. */
export const jpeg = (width: number, height: number): Uint8Array => padded([
  0xff, 0xd8, 0xff, 0xe1, ...big(10, 2), ...ascii('Exif\0\0\xff\xc0'), 0xff, 0xff, 0xff, 0xc4, ...big(4, 2), 0, 0,
  0xff, 0xc2, ...big(17, 2), 8, ...big(height, 2), ...big(width, 2), 3,
], 64);

export const webp = {
  lossy: (width: number, height: number) => riff([...ascii('VP8 '), ...little(10, 4), 0, 0, 0, 0x9d, 0x01, 0x2a, ...little(width, 2), ...little(height, 2)]),
  lossless: (width: number, height: number) => riff([...ascii('VP8L'), ...little(10, 4), 0x2f, ...little((width - 1) | ((height - 1) << 14), 4)]),
  extended: (width: number, height: number) => riff([...ascii('VP8X'), ...little(10, 4), 0, 0, 0, 0, ...little(width - 1, 3), ...little(height - 1, 3)]),
};

const riff = (chunk: number[]): Uint8Array => padded([...ascii('RIFF'), ...little(chunk.length + 4, 4), ...ascii('WEBP'), ...chunk], 64);

function padded(bytes: readonly number[], size: number): Uint8Array {
  const all = new Uint8Array(Math.max(size, bytes.length));
  all.set(bytes);
  return all;
}
