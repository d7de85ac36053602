import { inflateSync } from 'node:zlib';
import { bytesOfBase64, readPictureFacts } from '../common/picture-facts.ts';
import type { SimulatedMessage, SimulatedPicture } from './simulated-model.ts';

/*
 * What simulated models see. They read a picture's size, as every model is told it by its own eyes, and name the colours of a plain one: enough for
 * the question that a worker is tried with.
 */

/** Why a server refuses the pictures of a request; undefined if it takes them. @param seesPictures whether the model takes any */
export function pictureProblem(messages: readonly SimulatedMessage[], seesPictures: boolean): string | undefined {
  const pictures = messages.flatMap((message) => message.pictures ?? []);
  if (pictures.length > 0 && !seesPictures) return 'This model does not support image input.';
  return pictures.every(({ data }) => factsOf(data)) ? undefined : 'Could not process image: it is no PNG, JPEG, WebP or GIF.';
}

/** The tokens of all pictures, about a token for 750 pixels, as Anthropic counts. */
export function tokensOfPictures(messages: readonly SimulatedMessage[]): number {
  return messages.flatMap((message) => message.pictures ?? []).reduce((sum, { data }) => {
    const { width, height } = factsOf(data) ?? { width: 0, height: 0 };
    return sum + Math.min(Math.ceil(width * height / 750), 4_784);
  }, 0);
}

/** The answer to a question about the colours of the last picture; undefined for other questions. */
export function answerOfColours(messages: readonly SimulatedMessage[]): string | undefined {
  const last = messages.findLast(({ role }) => role === 'user');
  if (!last || !/^Which two colours has the picture\?/.test(last.content)) return undefined;
  const picture = last.pictures?.at(-1);
  return picture ? coloursOf(picture) : 'none';
}

const factsOf = (data: string): ReturnType<typeof readPictureFacts> => {
  const bytes = bytesOfBase64(data);
  return bytes && readPictureFacts(bytes);
};

/** The colours at both ends of the first line, of a PNG with two colours in a palette. */
function coloursOf({ data }: SimulatedPicture): string {
  const png = Buffer.from(data, 'base64');
  const [palette, pixels] = ['PLTE', 'IDAT'].map((name) => chunk(png, name));
  const facts = factsOf(data);
  // Depth 1, with a palette.
  if (facts?.type !== 'image/png' || png[24] !== 1 || png[25] !== 3 || !palette || !pixels) return 'grey grey';
  const line = inflateSync(pixels).subarray(1);
  return [0, facts.width - 1].map((x) => {
    const index = ((line[x >> 3] ?? 0) >> (7 - (x & 7))) & 1;
    return nameOf([...palette.subarray(index * 3, index * 3 + 3)]);
  }).join(' ');
}

function chunk(png: Buffer, name: string): Buffer | undefined {
  for (let at = 8; at + 8 <= png.length;) {
    const length = png.readUInt32BE(at);
    if (png.toString('latin1', at + 4, at + 8) === name) return png.subarray(at + 8, at + 8 + length);
    at += 12 + length;
  }
  return undefined;
}

function nameOf([red = 0, green = 0, blue = 0]: readonly number[]): string {
  const [r, g, b] = [red > 127, green > 127, blue > 127].map(Number);
  return ['black', 'blue', 'green', 'cyan', 'red', 'magenta', 'yellow', 'white'][(r ?? 0) * 4 + (g ?? 0) * 2 + (b ?? 0)] ?? 'grey';
}
