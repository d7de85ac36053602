import { describe, expect, it } from 'vitest';
import { ProgressMeter, type DownloadProgress } from '../../../backend/lm/download/progress-meter.ts';
import { MODEL_TABLE, type TableModel } from '../../../backend/lm/hub/model-table.ts';
import { recommendModel } from '../../../backend/lm/hub/recommend-model.ts';

const find = (repo: string): TableModel => {
  const found = MODEL_TABLE.find((model) => model.repo === repo);
  if (!found) throw new Error(`${repo} is not in the table.`);
  return found;
};

describe('the table of models', () => {
  // As their weight files say: metadata.total_size of the index, or the data of the one file.
  it.each([
    ['Qwen/Qwen2.5-7B-Instruct', 15_231_233_024], ['Qwen/Qwen3-0.6B', 1_503_264_768], ['Qwen/Qwen3-1.7B', 4_063_479_808],
    ['Qwen/Qwen3-4B', 8_044_936_192], ['Qwen/Qwen3-8B', 16_381_470_720],
  ])('knows what %s weighs', (repo, bytes) => {
    expect(find(repo).downloadBytes).toBe(bytes);
  });

  // As the model cards round them, in billions.
  it.each([['Qwen/Qwen2.5-0.5B-Instruct', 0.49], ['Qwen/Qwen2.5-1.5B-Instruct', 1.54], ['Qwen/Qwen3-0.6B', 0.6], ['Qwen/Qwen3-8B', 8.19]])(
    'knows how many parameters %s has', (repo, billions) => {
      expect(find(repo).parameters / 1e9).toBeCloseTo(billions, 2);
    });

  it('names no model whose licence forbids work', () => {
    expect(MODEL_TABLE.map(({ repo }) => repo)).not.toContain('Qwen/Qwen2.5-3B-Instruct');
  });
});

describe('the recommended model', () => {
  const GB = 2 ** 30;

  it.each([
    [80, 'Qwen/Qwen3-8B', 'bfloat16'], [24, 'Qwen/Qwen3-8B', 'bfloat16'], [16, 'Qwen/Qwen3-8B', '8-bit'], [12, 'Qwen/Qwen3-8B', '4-bit'],
    [8, 'Qwen/Qwen2.5-7B-Instruct', '4-bit'], [6, 'Qwen/Qwen3-1.7B', '8-bit'], [2, 'Qwen/Qwen2.5-0.5B-Instruct', 'bfloat16'],
  ] as const)('for a GPU of %d GB is the largest that fits', (size, repo, precision) => {
    const found = recommendModel({ accelerator: { device: 'cuda', memoryBytes: size * GB }, memoryBytes: 16 * GB });
    expect(found).toMatchObject({ model: { repo }, precision, device: 'cuda' });
    expect(found?.neededBytes).toBeLessThanOrEqual(size * GB * 0.9);
    expect(found?.reason).toMatch(/^Qwen\/\S+ in (bfloat16|8-bit|4-bit) is the largest that fits: it needs [\d.]+ GB of the GPU's [\d.]+ GB\.$/);
  });

  it('without a GPU is one that a processor runs at reading speed, however much memory there is', () => {
    const found = recommendModel({ memoryBytes: 512 * GB });
    expect(found).toMatchObject({ model: { repo: 'Qwen/Qwen3-1.7B' }, precision: '4-bit', device: 'cpu' });
    expect(found?.reason).toMatch(/^There is no GPU whose memory is known; Qwen\/Qwen3-1\.7B in 4-bit is the largest that .* on the CPU: it needs [\d.]+ GB of 512\.0 GB\.$/);
  });

  it('with a GPU too small for any runs on the CPU, and the reason says so', () => {
    const found = recommendModel({ accelerator: { device: 'cuda', memoryBytes: GB }, memoryBytes: 16 * GB });
    expect(found?.device).toBe('cpu');
    expect(found?.reason).toMatch(/^The GPU's 1\.0 GB are too little; /);
  });

  it('takes more for a larger load', () => {
    const small = recommendModel({ accelerator: { device: 'cuda', memoryBytes: 24 * GB }, memoryBytes: 16 * GB });
    const large = recommendModel({ accelerator: { device: 'cuda', memoryBytes: 24 * GB }, memoryBytes: 16 * GB }, { rows: 16, promptTokens: 4_096, newTokens: 1_024 });
    expect(large?.model.parameters).toBeLessThan(small?.model.parameters ?? 0);
  });

  it('is none where nothing fits', () => {
    expect(recommendModel({ memoryBytes: GB })).toBeUndefined();
  });
});

describe('the rate of a download', () => {
  it('counts the last seconds, and not what was there before', () => {
    let nowMs = 0;
    const reports: DownloadProgress[] = [];
    const meter = new ProgressMeter(10_000, (progress) => reports.push(progress), () => nowMs);
    meter.at(4_000);
    expect(reports.at(-1)).toEqual({ receivedBytes: 4_000, totalBytes: 10_000, bytesPerSecond: 0 });
    for (let received = 5_000; received <= 8_000; received += 1_000) {
      nowMs += 1_000;
      meter.at(received, 1_000);
    }
    expect(reports.at(-1)?.bytesPerSecond).toBe(1_333);
    nowMs += 60_000;
    meter.at(8_100, 100);
    expect(reports.at(-1)?.bytesPerSecond).toBe(1_000);
  });
});
