import { describe, expect, it } from 'vitest';
import { openCheckpoint } from '../../../backend/lm/checkpoint/open-checkpoint.ts';
import { readTensor } from '../../../backend/lm/checkpoint/read-tensor.ts';
import { columnSizes } from '../../../backend/lm/decoder/column-sizes.ts';
import { openQuantized } from '../../../backend/lm/quantize/quantized-store.ts';
import { modelFolder } from '../../golden/golden.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const checkpoint = await openCheckpoint(modelFolder('qwen2-tiny'));
const quantize = async () => (await openQuantized(checkpoint, { bits: 4, blockSize: 32, storage: await temporaryFolder() })).tensors;
/** Longer than one window. */
const text = Array.from({ length: 300 }, (_, index) => (index * 7) % 97);

describe('the sizes of what weights are multiplied with', () => {
  it('are those of the normed embeddings where the first layer begins', async () => {
    const sizes = await columnSizes(checkpoint, await quantize(), [text], { threads: 1 });
    const table = await readTensor(checkpoint.tensors.get('model.embed_tokens.weight')!);
    const norm = await readTensor(checkpoint.tensors.get('model.layers.0.input_layernorm.weight')!);
    const { hiddenSize, rmsNormEpsilon } = checkpoint.config;
    const expected = new Array<number>(hiddenSize).fill(0);
    // Each of the two windows comes with a padding token.
    for (const id of [...text, 0, 0]) {
      const row = table.subarray(id * hiddenSize, (id + 1) * hiddenSize);
      const square = row.reduce((sum, value) => sum + value * value, 0) / hiddenSize + rmsNormEpsilon;
      row.forEach((value, column) => { expected[column]! += (value * norm[column]!) ** 2 / square; });
    }
    const mean = expected.reduce((sum, size) => sum + size, 0) / hiddenSize;
    for (const projection of ['q_proj', 'k_proj', 'v_proj']) {
      const found = sizes.get(`model.layers.0.self_attn.${projection}.weight`)!;
      found.forEach((size, column) => expect(size).toBeCloseTo(expected[column]! / mean + 0.01, 4));
    }
  });

  it('are there for every projection, and no column counts nothing', async () => {
    const tensors = await quantize();
    const sizes = await columnSizes(checkpoint, tensors, [text], { threads: 1 });
    const projections = [...tensors.keys()].filter((name) => name.endsWith('_proj.weight'));
    expect([...sizes.keys()].toSorted()).toEqual(projections.toSorted());
    for (const [name, size] of sizes) {
      expect(size).toHaveLength(tensors.get(name)!.columns);
      expect(size.every((value) => value >= 0.01 && Number.isFinite(value))).toBe(true);
    }
  });

  it('end with the reason of the signal', async () => {
    const reading = columnSizes(checkpoint, await quantize(), [text], { threads: 1, signal: AbortSignal.abort(new Error('Not now.')) });
    await expect(reading).rejects.toThrow('Not now.');
  });
});
