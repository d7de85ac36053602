import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { uniform } from '../../../backend/lm/decoder/noise.ts';
import { LIKELIEST } from '../../../backend/lm/decoder/sampling.ts';
import { chiSquare, chiSquareLimit } from './chi-square.ts';
import { distributionOf, logSoftmax, Sampler, type SamplingRow } from './sampler.ts';

type Settings = Omit<SamplingRow, 'draw'>;

const ALL = { temperature: 1, topP: 1, topK: 0 } as const;
/** The largest number that can be drawn. */
const NEARLY_ONE = 1 - 2 ** -24;

/** Padded to blocks, as 101 is prime; divided into blocks; and the smallest there are. */
const VOCABULARIES = [101, 96, 7, 2] as const;
let samplers: ReadonlyMap<number, Sampler>;
beforeAll(async () => {
  samplers = new Map(await Promise.all(VOCABULARIES.map(async (size) => [size, await Sampler.open(size)] as const)));
});
afterAll(async () => {
  await Promise.all([...samplers.values()].map((sampler) => sampler.close()));
});
const samplerOf = (settings: Settings): Sampler => samplers.get(settings.logits.length) as Sampler;

/** How often each token comes for these numbers. */
async function counts(sampler: Sampler, settings: Settings, draws: readonly number[]): Promise<number[]> {
  const seen = settings.logits.map(() => 0);
  for (let from = 0; from < draws.length; from += 500) {
    const { tokens } = await sampler.draw(draws.slice(from, from + 500).map((draw) => ({ ...settings, draw })));
    for (const token of tokens) seen[token]! += 1;
  }
  return seen;
}

/** Evenly spread numbers hit each token as often as its probability says, but for where its interval begins and ends. */
async function expectDistribution(sampler: Sampler, settings: Settings, shares: readonly number[], count = 4_000): Promise<void> {
  const seen = await counts(sampler, settings, Array.from({ length: count }, (_, index) => (index + 0.5) / count));
  const misses = shares.map((share, token) => Math.abs((seen[token] as number) - share * count));
  expect(Math.max(...misses)).toBeLessThan(1.2);
}

const logitsOf = (seed: number, size: number, spread: number): number[] =>
  Array.from({ length: size }, (_, token) => Math.fround(spread * (uniform(seed, token) + uniform(seed, token + size) - 1)));

/** Equal, or as different as float32 can tell apart after all that is done to them. */
const logit = fc.integer({ min: -512, max: 512 }).map((steps) => steps / 64);

const maskOf = (size: number): fc.Arbitrary<boolean[]> =>
  fc.array(fc.boolean(), { minLength: size, maxLength: size }).filter((mask) => mask.includes(true));

const rowOf = (size: number, logits = logit): fc.Arbitrary<Settings> => fc.record({
  logits: fc.array(logits, { minLength: size, maxLength: size }),
  temperature: fc.constantFrom(1, 0.3, 0.8, 2),
  // Not the sums of equal shares, where rounding decides.
  topP: fc.constantFrom(1, 0.953, 0.713, 0.211),
  topK: fc.constantFrom(0, 1, 3, 1000),
  allowed: fc.option(maskOf(size), { nil: undefined }),
});

const row = fc.constantFrom(...VOCABULARIES).chain((size) => rowOf(size));

describe('a token is drawn', () => {
  it('from exactly the distribution that is asked for', async () => {
    await fc.assert(fc.asyncProperty(row, async (settings) => {
      await expectDistribution(samplerOf(settings), settings, distributionOf(settings));
    }), { seed: 1, numRuns: 60 });
  });

  it.each<Omit<Settings, 'logits'>>([
    ALL, { ...ALL, temperature: 0.5 }, { ...ALL, temperature: 3 }, { ...ALL, topK: 10 }, { ...ALL, topP: 0.8 },
    { temperature: 0.7, topP: 0.9, topK: 30 },
  ])('as often as chance would, with the numbers of seeds: %o', async (asked) => {
    const settings = { ...asked, logits: logitsOf(5, 101, 4) };
    const count = 20_000;
    const expected = distributionOf(settings).map((share) => share * count);
    const seen = await counts(samplerOf(settings), settings, Array.from({ length: count }, (_, seed) => uniform(seed, 2)));
    const { statistic, freedom } = chiSquare(seen, expected);
    expect(freedom).toBeGreaterThan(5);
    expect(statistic).toBeLessThan(chiSquareLimit(freedom));
    seen.forEach((times, token) => expect(times > 0 && expected[token] === 0).toBe(false));
  });

  it('from equals by their ids where top-k or top-p must part them', async () => {
    const logits = Array.from({ length: 101 }, (_, token) => (token % 2 === 1 ? 3 : -3));
    const draws = Array.from({ length: 500 }, (_, index) => (index + 0.5) / 500);
    const drawn = async (changes: Partial<Settings>): Promise<number[]> => {
      const seen = await counts(samplers.get(101)!, { ...ALL, logits, ...changes }, draws);
      return seen.flatMap((times, token) => (times > 0 ? [token] : []));
    };
    expect(await drawn({ topK: 4 })).toEqual([1, 3, 5, 7]);
    // Of 50 equals with nearly 1 together the first five have 0.09975.
    expect(await drawn({ topP: 0.0997 })).toEqual([1, 3, 5, 7, 9]);
    expect(await drawn({ topP: 0.0998 })).toEqual([1, 3, 5, 7, 9, 11]);
    // Not 0.5: whether two of four equal shares have half of their sum hangs on how it is rounded.
    expect(await drawn({ topK: 4, topP: 0.49 })).toEqual([1, 3]);
    expect(await drawn({ topK: 4, topP: 0.51 })).toEqual([1, 3, 5]);
  });

  it('at temperature 0 as the likeliest that is allowed, of equals the first, whatever the number', async () => {
    await fc.assert(fc.asyncProperty(row, fc.constantFrom(0, 0.5, NEARLY_ONE), async (settings, draw) => {
      const { logits, allowed } = settings;
      const best = logits.reduce((a, b, token) => (allowed?.[token] === false ? a : Math.max(a, b)), -Infinity);
      const { tokens: [token] } = await samplerOf(settings).draw([{ ...settings, temperature: 0, draw }]);
      expect(token).toBe(logits.findIndex((logit, id) => (allowed?.[id] ?? true) && logit === best));
    }), { seed: 2, numRuns: 60 });
  });
});

describe('a token that is not allowed', () => {
  const extreme = fc.oneof(logit, fc.constantFrom(-10_000, -500, -80, 0, 80, 500, 10_000));
  const masked = fc.constantFrom(...VOCABULARIES).chain((size) => fc.tuple(
    rowOf(size, extreme),
    fc.oneof(
      fc.nat(size - 1).map((only) => Array.from({ length: size }, (_, token) => token === only)),
      maskOf(size),
    ),
  ));
  const number = fc.constantFrom(0, 2 ** -24, 0.25, 0.5, 1 - 2 ** -23, NEARLY_ONE);

  it('is never drawn, however likely it is and however unlikely all others are', async () => {
    const temperature = fc.constantFrom(0, 1e-6, 0.01, 0.1, 1, 100);
    await fc.assert(fc.asyncProperty(masked, temperature, number, fc.boolean(), async ([settings, allowed], heat, draw, isFree) => {
      const rows = [{ ...settings, ...(isFree && { topP: 1, topK: 0 }), temperature: heat, allowed, draw }];
      const { tokens: [token], logprobs: [logprob] } = await samplerOf(settings).draw(rows);
      expect(allowed[token as number]).toBe(true);
      expect(logprob).toBeLessThanOrEqual(0);
    }), { seed: 3, numRuns: 400 });
  });

  it('is not drawn either where only tokens are left that the others make all but impossible', async () => {
    const logits = [400, ...Array.from({ length: 94 }, (_, token) => -token / 50), 400];
    const allowed = logits.map((logit) => logit !== 400);
    for (const changes of [{}, { topP: 0.9 }, { topK: 50 }]) {
      const settings = { ...ALL, ...changes, logits, allowed };
      await expectDistribution(samplers.get(96)!, settings, distributionOf(settings));
    }
  });
});

describe('the smallest and the largest number', () => {
  it('draw the first and the last of the tokens in question', async () => {
    await fc.assert(fc.asyncProperty(row, async (settings) => {
      const free = { ...settings, topP: 1, topK: 0 };
      const shares = distributionOf(free);
      const { tokens: [first, last] } = await samplerOf(free).draw([{ ...free, draw: 0 }, { ...free, draw: NEARLY_ONE }]);
      // What has less than the grid of float32 resolves may be passed over.
      const seen = shares.flatMap((share, token) => (share > 1e-6 ? [token] : []));
      expect(first).toBeLessThanOrEqual(seen[0] as number);
      expect(last).toBeGreaterThanOrEqual(seen.at(-1) as number);
      for (const token of [first, last]) expect(shares[token as number]).toBeGreaterThan(0);
    }), { seed: 4, numRuns: 60 });
  });
});

describe('the log-probability of the token', () => {
  it('is that of softmax(logits / temperature), before anything is left out', async () => {
    await fc.assert(fc.asyncProperty(row, fc.double({ min: 0, max: NEARLY_ONE, noNaN: true }), async (settings, number) => {
      const { tokens: [token], logprobs: [logprob] } = await samplerOf(settings).draw([{ ...settings, draw: Math.fround(number) }]);
      const exact = logSoftmax(settings.logits, settings.temperature)[token as number] as number;
      expect(Math.abs((logprob as number) - exact)).toBeLessThan(1e-5 * Math.max(1, -exact));
    }), { seed: 5, numRuns: 60 });
  });

  it('is that of softmax(logits) at temperature 0', async () => {
    const logits = logitsOf(9, 96, 5);
    const { tokens: [token], logprobs: [logprob] } = await samplers.get(96)!.draw([{ ...ALL, temperature: 0, logits, draw: 0.5 }]);
    expect(logprob).toBeCloseTo(logSoftmax(logits, 1)[token as number] as number, 5);
  });
});

describe('rows of one batch', () => {
  it('are drawn each by its own settings, to the last bit as alone', async () => {
    const some = fc.constantFrom(...VOCABULARIES).chain((size) =>
      fc.array(
        fc.tuple(rowOf(size), fc.nat(2 ** 24 - 1)).map(([settings, step]) =>
          ({ ...settings, topK: settings.topK || 5, draw: step / 2 ** 24 })),
        { minLength: 2, maxLength: 24, size: 'max' },
      ));
    await fc.assert(fc.asyncProperty(some, async (rows) => {
      const sampler = samplerOf(rows[0] as Settings);
      const { tokens, logprobs } = await sampler.draw(rows);
      for (const [index, single] of rows.entries()) {
        expect(await sampler.draw([single])).toEqual({ tokens: [tokens[index]], logprobs: [logprobs[index]] });
      }
    }), { seed: 6, numRuns: 25 });
  });
});

describe('top-p over a large vocabulary', () => {
  const size = 3_001;
  let sampler: Sampler;
  beforeAll(async () => {
    sampler = await Sampler.open(size);
  });
  afterAll(() => sampler.close());

  it('is exact as long as the tokens it keeps are among the likeliest that are sorted', async () => {
    const settings = { ...ALL, topP: 0.9, logits: logitsOf(11, size, 9) };
    const shares = distributionOf(settings);
    const kept = shares.filter((share) => share > 0).length;
    expect(kept).toBeGreaterThan(200);
    expect(kept).toBeLessThan(LIKELIEST);
    await expectDistribution(sampler, settings, shares, 2_500);
  });

  it('draws only from the likeliest that are sorted where it would keep more, in proportion', async () => {
    const settings = { ...ALL, topP: 0.99, logits: logitsOf(12, size, 0.5) };
    expect(distributionOf(settings).filter((share) => share > 0).length).toBeGreaterThan(2 * LIKELIEST);
    const shares = distributionOf({ ...settings, topK: LIKELIEST, topP: 1 });
    await expectDistribution(sampler, settings, shares, 2_500);
    for (const draw of [0, NEARLY_ONE]) {
      const { tokens: [token] } = await sampler.draw([{ ...settings, draw }]);
      expect(shares[token as number]).toBeGreaterThan(0);
    }
  });

  it('is not in the way of rows that leave nothing out: they draw from all tokens', async () => {
    const settings = { ...ALL, logits: logitsOf(13, size, 0.5) };
    await expectDistribution(sampler, settings, distributionOf(settings), 6_000);
  });
});
