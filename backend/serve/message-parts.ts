import * as z from 'zod';
import { bytesOfBase64, PictureError, pictureOf, takenPictures, type Picture } from '../protocol/pictures.ts';
import { invalid, type EndpointError } from './endpoint-error.ts';

/*
 * Contents of messages: text, and pictures as data. In the person's newest message everything else is refused, because the answer would miss what was
 * asked. Of older ones, and of those that tools returned, the worker is told that there was something.
 */

const partSchema = z.looseObject({ type: z.string() });
type Part = z.infer<typeof partSchema>;

export const contentSchema = z.union([z.string(), z.array(partSchema), z.null()]).optional();
export type Content = z.infer<typeof contentSchema>;

/** What a message holds, in the fields of `SpokenMessage`. */
interface Held {
  readonly content: string;
  readonly pictures?: Picture[];
}

/** Texts in the formats of all wires, of documents that are text, and for a tool that Claude Code's search has found. */
function textIn({ text, type, source, refusal, tool_name: found }: Part): string | undefined {
  if (typeof text === 'string') return text;
  if (typeof refusal === 'string') return refusal;
  if (type === 'tool_reference' && typeof found === 'string') return `The tool ${found} can be called now.`;
  const { type: kind, data } = fieldsOf(source);
  return type === 'document' && kind === 'text' && typeof data === 'string' ? data : undefined;
}

const PICTURES: ReadonlySet<string> = new Set(['image_url', 'input_image', 'image']);
const DATA = /^data:image\/[\w.+-]+;base64,/;

/** The base64 of a picture in the formats of all wires; undefined for one that is an address, or the id of a file at a provider. */
function dataIn({ image_url: address, source }: Part): string | undefined {
  const url = typeof address === 'string' ? address : fieldsOf(address)['url'];
  if (typeof url === 'string') return DATA.test(url) ? url.replace(DATA, '') : undefined;
  const { type, data } = fieldsOf(source);
  return type === 'base64' && typeof data === 'string' ? data : undefined;
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? value as Readonly<Record<string, unknown>> : {};
}

/** The content as text alone: of assistants and systems. */
export function textOf(content: Content): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part) => textIn(part) ?? leftOut(part)).join('\n');
}

const leftOut = ({ type }: Part): string => `[${type}: not shown, since workers are sent text and pictures alone]`;

/** @param isNewest of the person; @throws EndpointError if that holds what workers cannot be sent */
export function contentOf(content: Content, { isNewest = false } = {}): Held {
  if (typeof content === 'string') return { content };
  const texts: string[] = [];
  const pictures: Picture[] = [];
  for (const part of content ?? []) {
    const text = textIn(part);
    const picture = text === undefined ? pictureIn(part, isNewest) : undefined;
    if (picture) pictures.push(picture);
    else texts.push(text ?? leftOut(part));
  }
  if (isNewest) orRefused(() => takenPictures(pictures));
  return { content: texts.join('\n'), ...(pictures.length > 0 && { pictures }) };
}

function pictureIn(part: Part, isNewest: boolean): Picture | undefined {
  const data = PICTURES.has(part.type) ? dataIn(part) : undefined;
  if (data !== undefined) return isNewest ? orRefused(() => pictureOf(bytesOf(data))) : pictureOrNone(data);
  if (isNewest && PICTURES.has(part.type)) throw unsupported('Pictures are taken as data alone, in base64 ("data:image/png;base64,…"): nothing is loaded from an address, and no files are kept here.');
  if (isNewest) throw unsupported(`The newest message holds "${part.type}": workers are sent text and pictures alone. Describe in words what it shows.`);
  return undefined;
}

const bytesOf = (data: string): Uint8Array => bytesOfBase64(data) ?? new Uint8Array();
const unsupported = (message: string): EndpointError => invalid(message, 400, 'unsupported_content');

/** One of an older message may be of a kind that another model took. */
function pictureOrNone(data: string): Picture | undefined {
  try {
    return pictureOf(bytesOf(data));
  } catch (error) {
    if (error instanceof PictureError) return undefined;
    throw error;
  }
}

function orRefused<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof PictureError) throw unsupported(error.message);
    throw error;
  }
}
