import { createHash } from 'node:crypto';
import { runEventSchema, type RunEvent } from '../protocol/run-events.ts';

/*
 * How an event is stored. Long strings, such as an answer or the context, are moved out of the body and stored once, by their hash.
 * Their places are stored beside the event and not in it, so that no text of a user can look like a reference:
 *
 *   {"event": {"type": "step.completed", "output": "", …}, "blobs": [[["output"], "<sha256>"]]}
 *
 * A blob is the string's JSON, because UTF-8 alone cannot hold every JavaScript string (lone surrogates).
 */

/** Longer strings become blobs. In UTF-16 units. */
export const MAX_INLINE_LENGTH = 4_096;

type Key = string | number;
type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

interface Body {
  event: Json;
  blobs?: [path: Key[], hash: string][];
}

export interface EncodedEvent {
  readonly body: string;
  readonly blobs: readonly { readonly hash: string; readonly body: Uint8Array }[];
}

/** Why a body is not an event. The caller adds the run. */
export class UndecodableError extends Error {
  override readonly name = 'UndecodableError';
}

export function encodeEvent(event: RunEvent): EncodedEvent {
  const references: [Key[], string][] = [];
  const blobs: { hash: string; body: Uint8Array }[] = [];

  const take = (value: Json, path: Key[]): Json => {
    if (typeof value === 'string') {
      if (value.length <= MAX_INLINE_LENGTH) return value;
      const body = Buffer.from(JSON.stringify(value));
      const hash = hashOf(body);
      references.push([path, hash]);
      blobs.push({ hash, body });
      return '';
    }
    if (Array.isArray(value)) return value.map((item, index) => take(item, [...path, index]));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).filter(([, item]) => item !== undefined).map(([key, item]) => [key, take(item, [...path, key])]),
    );
  };

  const body: Body = { event: take(event as Json, []) };
  if (references.length > 0) body.blobs = references;
  return { body: JSON.stringify(body), blobs };
}

/**
 * The event, with the defaults of fields that the version that wrote it did not know.
 * @param blobOf the blob's bytes, or undefined where it is missing
 * @throws UndecodableError
 */
export function decodeEvent(text: string, blobOf: (hash: string) => Uint8Array | undefined): RunEvent {
  const body = parseBody(text);
  for (const [path, hash] of body.blobs ?? []) {
    const bytes = blobOf(hash);
    if (!bytes) throw new UndecodableError('a long text is missing');
    if (hashOf(bytes) !== hash) throw new UndecodableError('a long text was changed');
    putBack(body.event, path, JSON.parse(Buffer.from(bytes).toString()) as Json);
  }
  const parsed = runEventSchema.safeParse(body.event);
  if (!parsed.success) throw new UndecodableError('it does not have the form of an event', { cause: parsed.error });
  return parsed.data;
}

/** The event with long texts left empty, for who needs none of them; undefined if the text holds no event. */
export function decodeShort(text: string): RunEvent | undefined {
  try {
    return runEventSchema.safeParse(parseBody(text).event).data;
  } catch (error) {
    if (error instanceof UndecodableError) return undefined;
    throw error;
  }
}

function parseBody(text: string): Body {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new UndecodableError('it is not JSON', { cause });
  }
  if (!isRecord(value) || !isRecord(value.event) || !(value.blobs === undefined || isReferences(value.blobs))) {
    throw new UndecodableError('it does not have the form of a body');
  }
  return value as unknown as Body;
}

function putBack(event: Json, path: readonly Key[], text: Json): void {
  const last = path.at(-1);
  let holder: unknown = event;
  for (const key of path.slice(0, -1)) holder = isRecord(holder) && Object.hasOwn(holder, key) ? holder[key] : undefined;
  if (last === undefined || !isRecord(holder) || !Object.hasOwn(holder, last)) {
    throw new UndecodableError('a long text has no place');
  }
  holder[last] = text;
}

function isReferences(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) =>
    Array.isArray(item) && Array.isArray(item[0]) && typeof item[1] === 'string'
    && item[0].every((key) => typeof key === 'string' || typeof key === 'number'));
}

function isRecord(value: unknown): value is Record<Key, unknown> {
  return typeof value === 'object' && value !== null;
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
