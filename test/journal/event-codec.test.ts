import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeEvent, encodeEvent, MAX_INLINE_LENGTH, UndecodableError } from '../../backend/journal/event-codec.ts';
import type { RunEvent } from '../../backend/protocol/run-events.ts';
import { eventfulRun, stepCompleted } from './sample-events.ts';

/** Texts of any UTF-16 units, short and long, and such as look like what the codec itself writes. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
  fc.tuple(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 8 }),
    fc.integer({ min: MAX_INLINE_LENGTH - 8, max: MAX_INLINE_LENGTH + 8 }),
  ).map(([unit, length]) => unit.repeat(length).slice(0, length)),
  fc.constantFrom('{"event":{},"blobs":[[["output"],"00"]]}', '__proto__', '\u0000', '\ud800', ''),
).filter((value) => value.length > 0);

const event: fc.Arbitrary<RunEvent> = fc.oneof(
  text.map((output) => stepCompleted(output)),
  fc.tuple(text, text, fc.array(fc.record({ path: text, reason: text }))).map(([content, path, leftOut]): RunEvent => ({
    type: 'context.gathered', leftOut, tokens: 0, text: content,
    pieces: [{ path, startLine: 1, endLine: 0, reason: content, tokens: 1 }],
  })),
  fc.tuple(text, fc.array(text)).map(([diff, paths]): RunEvent => ({
    type: 'answer.ready', round: 0, step: 0, edits: paths.map((path) => ({ path, kind: 'modify', diff })), refused: [],
  })),
);

function roundTrip(original: RunEvent): RunEvent {
  const { body, blobs } = encodeEvent(original);
  const byHash = new Map(blobs.map((blob) => [blob.hash, blob.body]));
  return decodeEvent(body, (hash) => byHash.get(hash));
}

test('any event comes back as it was, whatever its texts hold', () => {
  fc.assert(fc.property(event, (original) => {
    expect(roundTrip(original)).toEqual(original);
  }), { numRuns: 500 });
});

test('every kind of event in a run comes back as it was', () => {
  for (const original of eventfulRun('x'.repeat(10_000))) expect(roundTrip(original)).toEqual(original);
});

test('a text becomes a blob when it is longer than the limit, and not before', () => {
  const blobsFor = (length: number) => encodeEvent(stepCompleted('x'.repeat(length))).blobs.length;
  expect(blobsFor(MAX_INLINE_LENGTH)).toBe(0);
  expect(blobsFor(MAX_INLINE_LENGTH + 1)).toBe(1);
});

test('whatever stands in a body, reading it gives an event or UndecodableError', () => {
  const bodies = fc.oneof(fc.string(), fc.json(), fc.json().map((json) => `{"event":${json},"blobs":${json}}`));
  fc.assert(fc.property(bodies, (body) => {
    try {
      decodeEvent(body, () => undefined);
    } catch (error) {
      expect(error).toBeInstanceOf(UndecodableError);
    }
  }), { numRuns: 500 });
});
