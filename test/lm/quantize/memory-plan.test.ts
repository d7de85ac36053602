import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDecoderConfig } from '../../../backend/lm/checkpoint/decoder-config.ts';
import { expectedTensors } from '../../../backend/lm/checkpoint/decoder-weights.ts';
import type { Device, WeightType } from '../../../backend/lm/device/devices.ts';
import { planMemory, type MemoryLoad, projectedBytes } from '../../../backend/lm/quantize/memory-plan.ts';
import { TINY_QWEN2, TINY_QWEN3 } from '../../support/tiny-checkpoint.ts';
import { HALF_BILLION, SEVEN_BILLION } from '../geometries.ts';

/** What the Conductor asks of its model: one text, a long prompt, a plan. */
const USUAL = { rows: 1, promptTokens: 4096, newTokens: 1024 };
const GIB = 2 ** 30;
/** The driver and the screen take some of a card. */
const usable = (gigabytes: number): number => gigabytes * GIB * 0.95;

type Load = Partial<MemoryLoad> & { precision: WeightType };
const plan = (load: Load) => planMemory({ config: SEVEN_BILLION, device: 'cuda', ...USUAL, ...load });

describe('the memory plan', () => {
  it('says that a 7B fits a 12 GB card in 4 bits, and not in 16', () => {
    expect(plan({ precision: '4-bit' }).totalBytes).toBeLessThan(usable(12));
    expect(plan({ precision: 'bfloat16' }).totalBytes).toBeGreaterThan(usable(12));
  });

  it('says that a 7B fits a 24 GB card in bfloat16, an adapter with it, and not in float32', () => {
    expect(plan({ precision: 'bfloat16', adapterRank: 16 }).totalBytes).toBeLessThan(usable(24));
    expect(plan({ precision: 'float32' }).totalBytes).toBeGreaterThan(usable(24));
  });

  it('says what a training pass keeps of the projections: of a 0.5B 1.1 GB for a thousand tokens', () => {
    // 896 queries, 128 keys, 128 values, 896 behind attention, and twice 4,864.
    expect(projectedBytes(HALF_BILLION, 1000)).toBe(4 * 24 * 1000 * 11776);
  });

  it.each([['untied Qwen2', TINY_QWEN2], ['tied Qwen3', TINY_QWEN3]])('counts every weight of a model: %s', (_, json) => {
    const config = parseDecoderConfig(json);
    const counts = expectedTensors(config).map(({ shape }) => shape.reduce((product, length) => product * length, 1));
    const weights = counts.reduce((sum, count) => sum + count, 0);
    for (const device of ['cpu', 'cuda'] as const) {
      expect(plan({ config, device, precision: 'float32' }).weightsBytes).toBe(weights * 4);
    }
    expect(plan({ config, precision: 'bfloat16' }).weightsBytes).toBe(weights * 2);
  });

  it('takes four bytes for a 16-bit weight on a CPU, but for a table that is only looked up in', () => {
    const table = 152064 * 3584;
    const onGpu = plan({ precision: 'bfloat16' }).weightsBytes;
    expect(plan({ precision: 'bfloat16', device: 'cpu' }).weightsBytes).toBe(2 * onGpu - 2 * table);
    const tied = { config: HALF_BILLION, precision: 'bfloat16' } as const;
    expect(plan({ ...tied, device: 'cpu' }).weightsBytes).toBe(2 * plan(tied).weightsBytes);
  });

  it('keeps 57 kB a token in the cache of a 7B in 16 bits, and twice that in 32', () => {
    const perToken = (load: Load) => plan({ ...load, newTokens: 1025 }).cacheBytes - plan(load).cacheBytes;
    expect(perToken({ precision: 'bfloat16' }) / 3.5).toBe(57344);
    expect(perToken({ precision: '4-bit', device: 'cpu' }) / 3.5).toBe(2 * 57344);
  });

  it('counts 154 MiB for an adapter of rank 16 on all projections of a 7B, and its copy in the type of computation', () => {
    const adapter = (device: Device) => plan({ precision: '4-bit', device, adapterRank: 16 }).adapterBytes / 2 ** 20;
    expect(Math.round(adapter('cpu'))).toBe(154);
    expect(adapter('cuda')).toBeCloseTo(1.5 * adapter('cpu'), 9);
    expect(plan({ precision: '4-bit' }).adapterBytes).toBe(0);
  });

  it('counts the scores of plain attention where CUDA computes in float32', () => {
    const workspace = (load: Load) => plan(load).workspaceBytes;
    const added = (precision: WeightType, device: Device) =>
      workspace({ precision, device, promptTokens: 4096 }) - 2 * workspace({ precision, device, promptTokens: 2048 });
    // Everything else grows with the prompt at most in proportion.
    expect(added('float32', 'cuda')).toBeGreaterThan(0);
    expect(added('bfloat16', 'cuda')).toBeLessThan(0);
    expect(added('float32', 'cpu')).toBeLessThan(0);
  });

  it('needs less for fewer bits, and more for more rows and longer texts', () => {
    const size = fc.integer({ min: 1, max: 64 });
    const load = fc.record({
      config: fc.constantFrom(SEVEN_BILLION, HALF_BILLION), device: fc.constantFrom('cpu' as const, 'cuda' as const),
      rows: size, promptTokens: size, newTokens: size,
    });
    fc.assert(fc.property(load, fc.constantFrom<WeightType>('4-bit', '8-bit', 'bfloat16', 'float32'), (given, precision) => {
      const total = (change: Partial<MemoryLoad>) => planMemory({ ...given, precision, ...change }).totalBytes;
      expect(total({ rows: given.rows + 1 })).toBeGreaterThan(total({}));
      expect(total({ promptTokens: given.promptTokens + 1 })).toBeGreaterThan(total({}));
      expect(total({ newTokens: given.newTokens + 1 })).toBeGreaterThan(total({}));
      const weights = (other: WeightType) => planMemory({ ...given, precision: other }).weightsBytes;
      expect(weights('4-bit')).toBeLessThan(weights('8-bit'));
      expect(weights('8-bit')).toBeLessThan(weights('float32'));
      expect(weights('bfloat16')).toBeLessThanOrEqual(weights('float32'));
    }));
  });

  it('adds up, and prints each item and the sum', () => {
    const onGpu = plan({ precision: '4-bit', adapterRank: 16 });
    expect(onGpu.totalBytes).toBe(onGpu.weightsBytes + onGpu.cacheBytes + onGpu.workspaceBytes + onGpu.adapterBytes);
    expect(onGpu.lines).toMatchInlineSnapshot(`
      [
        "Weights: 5.1 GB (7.6 billion, 4-bit)",
        "Attention cache: 980 MB (1 row of 5,120 tokens, 3.5 copies)",
        "Working memory: 1.1 GB (a prompt of 4,096 tokens)",
        "Adapter: 231 MB (rank 16)",
        "Total: 7.4 GB on the GPU",
      ]
    `);
    const small = { config: HALF_BILLION, rows: 2, promptTokens: 1, newTokens: 0 };
    expect(planMemory({ ...small, device: 'cpu', precision: 'bfloat16' }).lines).toMatchInlineSnapshot(`
      [
        "Weights: 1.8 GB (494 million, bfloat16, computed in float32)",
        "Attention cache: 1 MB (2 rows of 1 token, 3.5 copies)",
        "Working memory: 5 MB (a prompt of 1 token)",
        "Total: 1.8 GB on the CPU",
      ]
    `);
  });
});
