import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { packTexts, unpackTexts } from '../../backend/protocol/known-texts.ts';

const long = (letter: string, length = 1_500): string => letter.repeat(length);

/** What crosses, as it crosses. */
const sent = (value: unknown): unknown => JSON.parse(JSON.stringify(value)) as unknown;

describe('a message after another', () => {
  it('names a long text that stood there before, and sends only the end of one that has grown', () => {
    const first = packTexts({ output: long('a'), live: long('b') }, []);
    const second = packTexts({ output: long('a'), live: `${long('b')} and on` }, first.texts);
    expect(JSON.stringify(first.value).length).toBeGreaterThan(3_000);
    expect(JSON.stringify(second.value).length).toBeLessThan(100);
    expect(JSON.stringify(second.value)).toContain(' and on');
    expect(unpackTexts(sent(second.value), first.texts).value).toEqual({ output: long('a'), live: `${long('b')} and on` });
  });

  it('is whole where nothing is known', () => {
    const state = { steps: [{ output: long('a'), text: 'short' }], other: null, count: 3 };
    expect(packTexts(state, []).value).toEqual(state);
  });

  it('comes out as it went in, however the messages before it were', () => {
    const text = fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.integer({ min: 990, max: 1_030 })).map(([letter, length]) => long(letter, length));
    const state = fc.array(fc.record({ output: fc.option(text), live: text, name: fc.string() }));
    fc.assert(fc.property(fc.array(state, { maxLength: 6 }), (states) => {
      let here: readonly string[] = [];
      let there: readonly string[] = [];
      for (const one of states) {
        const packed = packTexts(one, here);
        const unpacked = unpackTexts(sent(packed.value), there);
        expect(unpacked.value).toEqual(one);
        [here, there] = [packed.texts, unpacked.texts];
        expect(there).toEqual(here);
      }
    }));
  });

  it('is refused where it was made for other texts', () => {
    const packed = packTexts({ output: long('a') }, [long('a')]);
    expect(() => unpackTexts(packed.value, [])).toThrow(RangeError);
  });
});
