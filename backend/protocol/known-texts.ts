/*
 * States of the panel are whole, and a run's texts are most of one: ten times a second they would cross to the page unchanged, over a slow line
 * when VS Code works remotely. So a long text that stood in the message before is named instead of repeated, and of one that has grown only
 * its end is sent. Both sides keep the long texts of one message, in the order in which they stand in it.
 */

/** Shorter ones are not worth the trouble. */
const LONG = 1_000;
/** No key of the house's own. */
const KEY = '\u0000text';

/** In place of a long text: which of the last message it begins with, and what follows. */
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

/** The opposite. @throws RangeError where a text is named that is not known: then the message before was not this one's. */
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

/** A copy of what JSON can hold in which `change` has replaced what it gives something for. */
function mapped(value: unknown, change: (part: unknown) => unknown): unknown {
  const changed = change(value);
  if (changed !== undefined) return changed;
  if (Array.isArray(value)) return value.map((part) => mapped(part, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, mapped(part, change)]));
}
