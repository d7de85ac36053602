import { describe, expect, it } from 'vitest';
import { AdaptivePause } from '../../../extension/suggest/adaptive-pause.ts';
import type { Gap } from '../../../extension/suggest/gap.ts';
import { SuggestionCache } from '../../../extension/suggest/suggestion-cache.ts';
import { SuggestionFlow } from '../../../extension/suggest/suggestion-flow.ts';
import { gapAt } from './gap-at.ts';

interface Asked {
  readonly gap: Gap;
  readonly signal: AbortSignal;
  readonly onText: (text: string) => void;
  readonly answer: PromiseWithResolvers<string>;
}

/** A worker whose every word the test says, and a clock that stands until the test lets time pass. */
function setUp() {
  const asked: Asked[] = [];
  const waits: { ms: number; signal: AbortSignal; pass: () => void }[] = [];
  const flow = new SuggestionFlow<Gap>({
    ask: (gap, onText, signal) => {
      const answer = Promise.withResolvers<string>();
      signal.addEventListener('abort', () => answer.reject(signal.reason as Error));
      asked.push({ gap, signal, onText, answer });
      return answer.promise;
    },
    pause: new AdaptivePause(),
    cache: new SuggestionCache(),
    wait: (ms, signal) => new Promise((resolve, reject) => {
      if (signal.aborted) reject(signal.reason as Error);
      signal.addEventListener('abort', () => reject(signal.reason as Error));
      waits.push({ ms, signal, pass: resolve });
    }),
    now: () => 0,
  });
  return { flow, asked, waits };
}

/** Lets everything that is due happen. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const still = new AbortController().signal;

describe('a suggestion', () => {
  it('is asked for after a pause, once, and known from then on', async () => {
    const { flow, asked, waits } = setUp();
    const first = flow.suggest(gapAt('const a = |'), still);
    await settle();
    expect(asked).toHaveLength(0);
    expect(waits.map(({ ms }) => ms)).toEqual([150]);
    waits[0]?.pass();
    await settle();
    asked[0]?.answer.resolve('one();');
    expect(await first).toBe('one();');
    expect(await flow.suggest(gapAt('const a = |'), still)).toBe('one();');
    expect(asked).toHaveLength(1);
  });

  it('is not waited for where the person asks for it', async () => {
    const { flow, asked, waits } = setUp();
    void flow.suggest(gapAt('const a = |'), still, { atOnce: true });
    await settle();
    expect(waits).toHaveLength(0);
    expect(asked).toHaveLength(1);
  });

  it('is not asked for where the next key comes before the pause is over', async () => {
    const { flow, asked, waits } = setUp();
    const key = new AbortController();
    const first = flow.suggest(gapAt('const a|'), key.signal);
    key.abort();
    const second = flow.suggest(gapAt('const a |'), still);
    expect(await first).toBeUndefined();
    waits[1]?.pass();
    await settle();
    expect(asked.map(({ gap }) => gap.before)).toEqual(['const a ']);
    asked[0]?.answer.resolve('= 1;');
    expect(await second).toBe('= 1;');
  });

  it('fails as the worker fails', async () => {
    const { flow, asked } = setUp();
    const suggested = flow.suggest(gapAt('const a = |'), still, { atOnce: true });
    await settle();
    asked[0]?.answer.reject(new Error('The budget of the day is spent.'));
    await expect(suggested).rejects.toThrow('The budget of the day is spent.');
  });
});

describe('a request under way', () => {
  const begin = async () => {
    const parts = setUp();
    const key = new AbortController();
    const first = parts.flow.suggest(gapAt('const a = |'), key.signal, { atOnce: true });
    await settle();
    return { ...parts, key, first };
  };

  it('serves who types along with it, without a pause', async () => {
    const { flow, asked, waits, key, first } = await begin();
    key.abort();
    const second = flow.suggest(gapAt('const a = on|'), still);
    expect(await first).toBeUndefined();
    asked[0]?.onText('one');
    asked[0]?.answer.resolve('one();');
    expect(await second).toBe('e();');
    expect(asked).toHaveLength(1);
    expect(asked[0]?.signal.aborted).toBe(false);
    expect(waits).toEqual([]);
  });

  it('is waited for no longer once it is cancelled', async () => {
    const { flow, waits, key, first } = await begin();
    key.abort();
    expect(await first).toBeUndefined();
    expect(waits.map(({ signal }) => signal.aborted)).toEqual([false]);
    flow.cancel();
    expect(waits.map(({ signal }) => signal.aborted)).toEqual([true]);
  });

  it('serves who has typed more than has come of it yet', async () => {
    const { flow, asked, key } = await begin();
    asked[0]?.onText('on');
    key.abort();
    const second = flow.suggest(gapAt('const a = one(|)'), still);
    asked[0]?.answer.resolve('one(two);');
    expect(await second).toBe('two);');
    expect(asked).toHaveLength(1);
  });

  it('serves who opens a block that the editor has closed already', async () => {
    const { flow, asked } = setUp();
    void flow.suggest(gapAt('function f() {|}\nnext();', true), still, { atOnce: true });
    await settle();
    const second = flow.suggest(gapAt('function f() {\n  |\n}\nnext();', true), still);
    asked[0]?.answer.resolve('\n  a();\n}');
    expect(await second).toBe('a();\n}');
    expect(asked).toHaveLength(1);
  });

  it('is cancelled as soon as its text goes another way, and another one is made', async () => {
    const { flow, asked, key } = await begin();
    key.abort();
    const second = flow.suggest(gapAt('const a = tw|'), still);
    asked[0]?.onText('o');
    await settle();
    expect(asked[0]?.signal.aborted).toBe(true);
    expect(asked.map(({ gap }) => gap.before)).toEqual(['const a = ', 'const a = tw']);
    asked[1]?.answer.resolve('o();');
    expect(await second).toBe('o();');
  });

  it('is cancelled at once where the person goes elsewhere', async () => {
    const { flow, asked, key } = await begin();
    key.abort();
    void flow.suggest(gapAt('const b = |'), still);
    expect(asked[0]?.signal.aborted).toBe(true);
  });

  it('is cancelled as soon as the document goes another way, before anybody asks, and not while it goes along', async () => {
    const { flow, asked, first } = await begin();
    asked[0]?.onText('one');
    flow.changed(gapAt('const a = on|'));
    expect(asked[0]?.signal.aborted).toBe(false);
    flow.changed(gapAt('const a = ot|'));
    expect(asked[0]?.signal.aborted).toBe(true);
    expect(flow.isAsking).toBe(false);
    expect(await first).toBeUndefined();
  });

  it('is not cancelled by a change in another document', async () => {
    const { flow, asked } = await begin();
    flow.changed({ ...gapAt('something else|'), document: 'file:///b.ts' });
    expect(asked[0]?.signal.aborted).toBe(false);
  });

  it('is cancelled a moment after nobody waits for it any more', async () => {
    const { asked, waits, key, first } = await begin();
    key.abort();
    expect(await first).toBeUndefined();
    expect(asked[0]?.signal.aborted).toBe(false);
    waits[0]?.pass();
    await settle();
    expect(asked[0]?.signal.aborted).toBe(true);
  });

  it('is kept for who types along with it faster than the editor asks', async () => {
    const { flow, asked, waits, key, first } = await begin();
    key.abort();
    expect(await first).toBeUndefined();
    flow.changed(gapAt('const a = on|'));
    waits[0]?.pass();
    await settle();
    expect(asked[0]?.signal.aborted).toBe(false);
    waits[1]?.pass();
    await settle();
    expect(asked[0]?.signal.aborted).toBe(true);
  });

  it('does not serve who wants several lines where it asks for one', async () => {
    const { flow, asked, key } = await begin();
    key.abort();
    void flow.suggest(gapAt('const a = {|', true), still, { atOnce: true });
    await settle();
    expect(asked[0]?.signal.aborted).toBe(true);
    expect(asked).toHaveLength(2);
  });

  it('that was typed to its end is followed by another one', async () => {
    const { flow, asked, key } = await begin();
    key.abort();
    const second = flow.suggest(gapAt('const a = one();|'), still);
    asked[0]?.answer.resolve('one();');
    await settle();
    asked[1]?.answer.resolve(' // more');
    expect(await second).toBe(' // more');
  });
});
