import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { digestLine, digestOf } from '../../backend/conductor/worker-digest.ts';

const digest = (question: string, ...descriptions: (string | undefined)[]) => digestOf(question, descriptions.map((description) => ({ description })));

describe('the digest of workers', () => {
  it('says who is praised for planning, writing and checking', () => {
    const found = digest('Why is it slow?', 'Makes good plans. Cheap.', 'A strong coder', 'Finds faults in what others wrote; expensive', 'A large model');
    expect(found).toEqual({ plan: [0], write: [1], check: [2], near: [], cheap: [0], hands: [] });
  });

  it('puts those first whose praise is about what the question is about', () => {
    const found = digest('mergeIntervals drops ranges that touch', 'Writes code for dates.', 'Writes code for intervals and ranges.', 'Knows ranges.');
    expect(found.write).toEqual([1, 0]);
    expect(found.near).toEqual([1, 2]);
  });

  it('takes the first word of a sentence for the role it speaks of', () => {
    expect(digest('', 'Finds faults in code')).toMatchObject({ check: [0], write: [] });
    expect(digest('', 'Its code has few bugs')).toMatchObject({ check: [], write: [0] });
  });

  it('takes no reservation for praise', () => {
    expect(digest('', 'Picky reviewer who never writes a line')).toMatchObject({ check: [0], write: [] });
    expect(digest('about matrices', 'Not a good reviewer. Weak at matrices. Poor at long code.')).toEqual({ plan: [], write: [], check: [], near: [], cheap: [], hands: [] });
  });

  it('finds words in names of functions, and whatever their endings', () => {
    expect(digest('Fix parse_booking and SlotFinder', 'Knows bookings.', 'Knows slots.', 'Knows colours.').near).toEqual([0, 1]);
  });

  it('is nothing where nobody is described', () => {
    expect(digestLine(digest('Anything', undefined, ''))).toBe('');
  });

  it('reads as plans name who does a step', () => {
    expect(digestLine({ plan: [2], write: [0, 1], check: [], near: [1], cheap: [3], hands: [1, 0] })).toBe('plan2, write0, write1, near1, cheap3, hands1, hands0');
  });

  it('says who has hands, those praised for writing first, and is the same as before where nobody has', () => {
    const pool = [{ description: 'Makes good plans.' }, { description: 'Average.', hasHands: true }, { description: 'A strong coder.', hasHands: true }, {}];
    const found = digestOf('Anything', pool);
    expect(found.hands).toEqual([2, 1]);
    expect(digestOf('Anything', pool.map(({ description }) => ({ ...(description !== undefined && { description }) })))).toEqual({ ...found, hands: [] });
    expect(digestLine({ ...found, hands: [] })).toBe('plan0, write2');
  });

  it('names nobody but workers of the pool, each once a list, whatever is said of them', () => {
    fc.assert(fc.property(fc.string(), fc.array(fc.option(fc.string({ unit: 'grapheme' }), { nil: undefined }), { maxLength: 40 }), (question, descriptions) => {
      for (const list of Object.values(digest(question, ...descriptions))) {
        expect(new Set(list).size).toBe(list.length);
        for (const ordinal of list) expect(ordinal).toBeLessThan(descriptions.length);
      }
    }));
  });
});
