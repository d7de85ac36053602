import { describe, expect, it } from 'vitest';
import { tokensOf } from '../../../backend/context/tokens.ts';
import type { Exchange } from '../../../backend/protocol/earlier.ts';
import { clipExchanges, clipMiddle, EARLIER_TOKENS } from '../../../backend/solve/follow-up/clip-exchanges.ts';

const exchange = (number: number, { question = `Question ${number}?`, answer = `Answer ${number}.` } = {}): Exchange =>
  ({ runId: `r${number}`, question, result: 'Verified.', answer, state: 'completed', outcome: 'verified', isTold: true });
const numbers = (count: number): number[] => Array.from({ length: count }, (_none, index) => index + 1);
const sizeOf = ({ question, result, answer }: Exchange): number => tokensOf(question) + tokensOf(result) + tokensOf(answer);
const long = 'A sentence of the answer, one of very many. '.repeat(2_000);

describe('the exchanges of a conversation', () => {
  it('are told whole where they fit', () => {
    const all = numbers(4).map((number) => exchange(number));
    expect(clipExchanges(all)).toEqual(all);
  });

  it('get at most half of what is left, from the newest on, and all together stay in the bound', () => {
    const clipped = clipExchanges(numbers(20).map((number) => exchange(number, { answer: long, question: long })));
    const sizes = clipped.filter(({ isTold }) => isTold).map(sizeOf);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(EARLIER_TOKENS);
    expect(sizes).toEqual(sizes.toSorted((a, b) => a - b));
    expect(sizes.at(-1)).toBeGreaterThan(EARLIER_TOKENS * 0.45);
    expect(clipped.map(({ isTold }) => isTold)).toEqual([...numbers(15).map(() => false), ...numbers(5).map(() => true)]);
    expect(clipped.slice(0, 15).every(({ answer, question }) => answer === '' && tokensOf(question) <= 60)).toBe(true);
  });

  it('leave to older ones what they do not need', () => {
    const [oldest] = clipExchanges([exchange(1, { answer: long }), ...numbers(5).map((number) => exchange(number + 1))]);
    expect(sizeOf(oldest as Exchange)).toBeGreaterThan(EARLIER_TOKENS * 0.4);
  });

  it('can be clipped again, and are not told again once they were left out', () => {
    const once = clipExchanges(numbers(7).map((number) => exchange(number, { answer: long })));
    const again = clipExchanges([...once, exchange(8, { answer: long })]);
    expect(again.filter(({ isTold }) => isTold).reduce((sum, one) => sum + sizeOf(one), 0)).toBeLessThanOrEqual(EARLIER_TOKENS);
    expect(again.slice(0, 2).map(({ isTold }) => isTold)).toEqual([false, false]);
    expect(again.at(-1)).toMatchObject({ runId: 'r8', isTold: true });
  });

  it('are without lines that look like secrets, also where a key would be cut', () => {
    const key = `ghp_${'a1B2c3D4e5'.repeat(4)}`.slice(0, 40);
    const secret = `${'x'.repeat(4_000)}\ntoken = "${key}"\n${'y'.repeat(40_000)}`;
    const [clipped] = clipExchanges([exchange(1, { question: `Use ${key}`, answer: secret })]);
    expect(JSON.stringify(clipped)).not.toContain(key.slice(0, 20));
  });

  it('go back fifty questions at most', () => {
    expect(clipExchanges(numbers(60).map((number) => exchange(number))).map(({ runId }) => runId)[0]).toBe('r11');
  });
});

it('a text is cut in its middle, to the token, in any script', () => {
  for (const text of [long, '漢字かな交じり文'.repeat(500), '😀'.repeat(500)]) {
    const cut = clipMiddle(text, 100);
    expect(tokensOf(cut)).toBeLessThanOrEqual(100);
    expect(tokensOf(cut)).toBeGreaterThan(90);
    expect(cut.isWellFormed()).toBe(true);
  }
  expect(clipMiddle('short', 100)).toBe('short');
});
