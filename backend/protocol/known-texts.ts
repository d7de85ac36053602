/*
 * The panel always receives its whole state, ten times a second, and most of it is text that has not changed. In remote windows the
 * connection may be slow. So a long text of the previous message is referenced instead of repeated, and for a text that has grown only the
 * new end is sent. Both sides keep the long texts of the last message, in order.
 */

/** Shorter texts are sent whole: a reference would save little. */
const LONG = 1_000;
/** No message uses this key otherwise. */
const KEY = '\u0000text';

/** Replaces a long text: the index of its beginning in the last message's texts, and the rest. */
type Packed = readonly [known: number, more: string];

export interface WithTexts<T> {
  readonly value: T;
  /** The long texts of the value. */
  readonly texts: readonly string[];
}

/** @param known the long texts of the last message */
export function packTexts(value: unknown, known: readonly string[]): WithTexts<unknown> {
  const places = new Map(known.map((text, place) => [text, place]));
  const texts: string[] = [];
  const pack = (text: string): string | { [KEY]: Packed } => {
    texts.push(text);
    const same = places.get(text);
    if (same !== undefined) return { [KEY]: [same, ''] };
    const begun = known.findIndex((earlier) => text.startsWith(earlier));
    return begun < 0 ? text : { [KEY]: [begun, text.slice(known[begun]?.length)] };
  };
  return { value: mapped(value, (part) => (typeof part === 'string' && part.length >= LONG ? pack(part) : undefined)), texts };
}

/** Restores the texts. @throws RangeError for an unknown reference, which means that a message was lost. */
export function unpackTexts(value: unknown, known: readonly string[]): WithTexts<unknown> {
  const texts: string[] = [];
  const unpack = ([place, more]: Packed): string => {
    const text = known[place];
    if (text === undefined) throw new RangeError(`The message names text ${place}, and ${known.length} are known.`);
    return text + more;
  };
  return {
    value: mapped(value, (part) => {
      const packed = typeof part === 'object' && part !== null && KEY in part ? (part as { [KEY]: Packed })[KEY] : undefined;
      const text = packed ? unpack(packed) : part;
      if (typeof text !== 'string' || text.length < LONG) return undefined;
      texts.push(text);
      return text;
    }),
    texts,
  };
}

/** Copies a JSON value. Where `change` returns a value, that value replaces the original. */
function mapped(value: unknown, change: (part: unknown) => unknown): unknown {
  const changed = change(value);
  if (changed !== undefined) return changed;
  if (Array.isArray(value)) return value.map((part) => mapped(part, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, mapped(part, change)]));
}
