import * as z from 'zod';
import type { SimulatedMessage } from '../simulated-model.ts';

const part = z.object({ type: z.string(), text: z.string() });

/** Text, or a list of parts that are text; anything else is refused. */
export const textSchema = z.union([z.string(), z.array(part).transform((parts) => parts.map(({ text }) => text).join(''))]);

/** A user's message from its text and its pictures, in their order. @param pictures the base64 of those parts that are pictures */
export function saidIn<P extends { readonly type: string }>(content: string | readonly P[], pictures: (part: P) => string | undefined): SimulatedMessage {
  if (typeof content === 'string') return { role: 'user', content };
  const shown = content.flatMap((one) => pictures(one) ?? []).map((data) => ({ data }));
  return {
    role: 'user',
    content: content.map((one) => ('text' in one && typeof one.text === 'string' ? one.text : '')).join(''),
    ...(shown.length > 0 && { pictures: shown }),
  };
}

const DATA_URL = /^data:image\/(?:png|jpeg|webp|gif);base64,/;

/** Looks for a sign that base64 has not: a pattern that follows all of a large picture may need more memory than patterns have. */
function isBase64(text: string): boolean {
  const data = text.replace(/={1,2}$/, '');
  return data !== '' && !/[^A-Za-z0-9+/]/.test(data);
}

/** The base64 of a picture in the address of an OpenAI request. Only data is taken: no simulated model fetches anything. */
export const dataUrlSchema = z.string().refine((url) => DATA_URL.test(url) && isBase64(url.slice(url.indexOf(',') + 1)), 'image_url must be a base64-encoded data URL of a PNG, JPEG, WebP or GIF image')
  .transform((url) => url.slice(url.indexOf(',') + 1));

export const base64Schema = z.string().refine(isBase64, 'image data must be base64');
