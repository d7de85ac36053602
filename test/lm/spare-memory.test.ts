import { describe, expect, it } from 'vitest';
import { planMemory, projectedBytes, trainedBytes } from '../../backend/lm/quantize/memory-plan.ts';
import { type ModelInMemory, spendMemory } from '../../backend/lm/spare-memory.ts';
import { HALF_BILLION } from './geometries.ts';

const GIB = 2 ** 30;
const config = HALF_BILLION;
const plan = planMemory({ config, precision: 'bfloat16', device: 'cpu', rows: 1, promptTokens: 3072, newTokens: 1024, adapterRank: 16 });
const BOTH_COPIES = plan.totalBytes + 2 * plan.weightsBytes;
const LONGEST_TEXT = 4096;

type Settings = ModelInMemory['settings'];
/** What a 0.5B in bfloat16 does on a CPU with so much memory. */
const spend = (settings: Partial<Settings>, bytes: number, { freeBytes = bytes, ...model }: Partial<ModelInMemory> & { freeBytes?: number } = {}) =>
  spendMemory({ device: 'cpu', config, storedType: 'bfloat16', settings: { precision: 'full', ...settings }, plan, ...model }, { bytes, freeBytes });

describe('a model of which an adapter is trained', () => {
  const train = (bytes: number, model?: Parameters<typeof spend>[2]) => spend({ trainable: 'adapter' }, bytes, model);

  it('is repacked where twice the memory for it is there, and else says that it is slow', () => {
    expect(train(2 * BOTH_COPIES)).toMatchObject({ repackWeights: true, reasons: [] });
    expect(train(2 * BOTH_COPIES - 1)).toEqual({
      repackWeights: false, keepProjections: false, reasons: [expect.stringContaining('writes at half its speed: choose a smaller model')],
    });
  });

  it('keeps what projections gave where twice the memory for that is there too, of the longest text', () => {
    const all = BOTH_COPIES + projectedBytes(config, LONGEST_TEXT);
    expect(train(2 * all)).toEqual({ repackWeights: true, keepProjections: true, reasons: [] });
    expect(train(2 * all - 1)).toEqual({ repackWeights: true, keepProjections: false, reasons: [] });
  });

  it('reads shorter texts in a shorter context, but several at once', () => {
    const fits = (tokens: number, contextLength: number) =>
      [0, 1].map((less) => spend({ trainable: 'adapter', contextLength }, 2 * (BOTH_COPIES + projectedBytes(config, tokens)) - less).keepProjections);
    expect(fits(2048, 2048)).toEqual([true, false]);
    expect(fits(1024, 512)).toEqual([true, false]);
  });

  it('is repacked on a machine of 16 GB, and keeps projections too on one of 32, whatever is free', () => {
    const told = [8, 16, 32].map((gigabytes) => train(gigabytes * GIB, { freeBytes: 0 }));
    expect(told.map(({ repackWeights, keepProjections }) => [repackWeights, keepProjections])).toEqual([[false, false], [true, false], [true, true]]);
    expect(told).toEqual([8, 16, 32].map((gigabytes) => train(gigabytes * GIB)));
  });

  it('is copied once where its file has float32, which stays there', () => {
    expect(train(2 * BOTH_COPIES - 2 * plan.weightsBytes, { storedType: 'float32' }).repackWeights).toBe(true);
  });
});

describe('a model whose weights are trained', () => {
  it('has room for them, their moments and gradients before it keeps projections, and has nothing to repack', () => {
    const all = plan.totalBytes + trainedBytes(config) + projectedBytes(config, LONGEST_TEXT);
    const train = (bytes: number) => spend({ trainable: 'weights' }, bytes);
    expect(train(2 * all)).toEqual({ repackWeights: false, keepProjections: true, reasons: [] });
    expect(train(2 * all - 1)).toEqual({ repackWeights: false, keepProjections: false, reasons: [] });
    expect(trainedBytes(config)).toBe(4 * plan.weightsBytes);
  });
});

describe('a model that nobody trains', () => {
  it('is repacked where enough is free, and else says that it is slow', () => {
    expect(spend({}, 64 * GIB, { freeBytes: BOTH_COPIES })).toMatchObject({ repackWeights: true, reasons: [] });
    expect(spend({}, 64 * GIB, { freeBytes: BOTH_COPIES - 1 })).toMatchObject({
      repackWeights: false, reasons: [expect.stringContaining('writes at half its speed: close programs')],
    });
  });

  it('is always repacked in 4 bits, trained or not, and never on a GPU', () => {
    expect(spend({ precision: '4-bit' }, 0)).toMatchObject({ repackWeights: true, reasons: [] });
    expect(spend({ precision: '4-bit', trainable: 'adapter' }, 0)).toMatchObject({ repackWeights: true, reasons: [] });
    expect(spend({}, 64 * GIB, { device: 'cuda' })).toEqual({ repackWeights: false, keepProjections: false, reasons: [] });
  });
});
