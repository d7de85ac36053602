/* What a picture is follows from its first bytes, never from its name or from what somebody says of it. */

/** What OpenAI, Anthropic and most servers of local models take. */
export const PICTURE_TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'] as const;
export type PictureType = (typeof PICTURE_TYPES)[number];

export interface PictureFacts {
  readonly type: PictureType;
  /** In pixels. */
  readonly width: number;
  readonly height: number;
}

/** Undefined for a text that is no base64. */
export function bytesOfBase64(data: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const text = atob(data);
    // Uint8Array.from goes through an iterator, which takes thirty times as long.
    const bytes = new Uint8Array(text.length);
    for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
    return bytes;
  } catch {
    return undefined;
  }
}

/** What the first bytes say; undefined for what is no picture of these types, or is cut off before it says its size. */
export function readPictureFacts(bytes: Uint8Array): PictureFacts | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (const { type, size } of FORMATS) {
    try {
      const [width, height] = size(view) ?? [0, 0];
      if (width > 0 && height > 0) return { type, width, height };
    } catch (error) {
      // Cut off.
      if (!(error instanceof RangeError)) throw error;
    }
  }
  return undefined;
}

interface Format {
  readonly type: PictureType;
  /** Width and height; undefined for another format. @throws RangeError if the bytes end before */
  readonly size: (view: DataView) => readonly [number, number] | undefined;
}

const FORMATS: readonly Format[] = [
  { type: 'image/png', size: (view) => (isText(view, 0, '\x89PNG\r\n\x1a\n') && isText(view, 12, 'IHDR') ? [view.getUint32(16), view.getUint32(20)] : undefined) },
  { type: 'image/gif', size: (view) => (isText(view, 0, 'GIF87a') || isText(view, 0, 'GIF89a') ? [view.getUint16(6, true), view.getUint16(8, true)] : undefined) },
  { type: 'image/webp', size: (view) => (isText(view, 0, 'RIFF') && isText(view, 8, 'WEBP') ? webpSize(view) : undefined) },
  { type: 'image/jpeg', size: (view) => (view.getUint16(0) === 0xff_d8 && view.getUint8(2) === 0xff ? jpegSize(view) : undefined) },
];

function isText(view: DataView, at: number, text: string): boolean {
  return [...text].every((character, index) => view.getUint8(at + index) === character.charCodeAt(0));
}

/** The three forms of https://developers.google.com/speed/webp/docs/riff_container. */
function webpSize(view: DataView): [number, number] | undefined {
  if (isText(view, 12, 'VP8X')) return [1 + uint24(view, 24), 1 + uint24(view, 27)];
  if (isText(view, 12, 'VP8L') && view.getUint8(20) === 0x2f) {
    const bits = view.getUint32(21, true);
    return [1 + (bits & 0x3fff), 1 + ((bits >>> 14) & 0x3fff)];
  }
  if (isText(view, 12, 'VP8 ') && isText(view, 23, '\x9d\x01\x2a')) return [view.getUint16(26, true) & 0x3fff, view.getUint16(28, true) & 0x3fff];
  return undefined;
}

function uint24(view: DataView, at: number): number {
  return view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
}

/** Walks the segments up to the frame's header (ITU T.81, B.1.1.3). Between segments there may be fill bytes. */
function jpegSize(view: DataView): [number, number] | undefined {
  for (let at = 2; ;) {
    if (view.getUint8(at) !== 0xff) return undefined;
    const marker = view.getUint8(at + 1);
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    // SOF0 to SOF15, without the tables DHT, JPG and DAC among them.
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) return [view.getUint16(at + 7), view.getUint16(at + 5)];
    const length = view.getUint16(at + 2);
    if (length < 2) return undefined;
    at += 2 + length;
  }
}
