import { describe, expect, it } from 'vitest';
import { KeyedRandom } from '../../backend/common/keyed-random.ts';
import { keyOf } from '../../backend/simulator/simulated-model.ts';

describe('keyed randomness', () => {
  it('draws the same for the same keys, and otherwise for others', () => {
    const draw = (...keys: unknown[]): number => new KeyedRandom(...keys).unit('draw');
    expect(draw(1, 'a')).toBe(draw(1, 'a'));
    expect(new Set([draw(1, 'a'), draw(2, 'a'), draw(1, 'b'), draw('1', 'a'), draw(1, 'a', '')]).size).toBe(5);
  });

  it('draws independently of what else is drawn', () => {
    const random = new KeyedRandom('key');
    const alone = random.unit('second');
    random.unit('first');
    expect(random.unit('second')).toBe(alone);
  });

  it('spreads evenly from 0 to 1', () => {
    const counts = [0, 0, 0, 0];
    for (let key = 0; key < 4_000; key += 1) counts[Math.floor(new KeyedRandom(key).unit('draw') * 4)]! += 1;
    for (const count of counts) expect(Math.abs(count - 1_000)).toBeLessThan(120);
  });

  it('shuffles without losing or repeating anything', () => {
    const items = [1, 2, 3, 4, 5, 6];
    const shuffled = new KeyedRandom('key').shuffled('order', items);
    expect(shuffled).not.toEqual(items);
    expect([...shuffled].sort()).toEqual(items);
  });
});

describe('the key of a request', () => {
  const key = (content: string, sample?: number): string =>
    JSON.stringify(keyOf({ messages: [{ role: 'user', content }], sample }));

  it('leaves out durations and the folder of a copy, which differ between equal runs', () => {
    expect(key('failed after 12.5 ms in /tmp/a1/src/csv.js')).toBe(key('failed after 9 ms in /tmp/b2/src/csv.js'));
    expect(key('duration_ms: 1.25')).toBe(key('duration_ms: 3.5'));
  });

  it('keeps everything else, and the sample', () => {
    expect(key('a')).not.toBe(key('b'));
    expect(key('a', 1)).not.toBe(key('a', 2));
    expect(key('src/csv.js')).not.toBe(key('src/primes.js'));
  });
});
