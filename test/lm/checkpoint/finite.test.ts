import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findNonFinite, indexOfNonFinite } from '../../../backend/lm/checkpoint/finite.ts';
import { openCheckpoint } from '../../../backend/lm/checkpoint/open-checkpoint.ts';
import { notFiniteError } from '../../../backend/lm/checkpoint/read-tensor.ts';
import { GOLDEN_MODELS } from '../../golden/golden.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import {
  tinyTensors, TINY_QWEN2, TINY_QWEN3, writeShardedCheckpoint, writeTinyCheckpoint,
} from '../../support/tiny-checkpoint.ts';

test.each(GOLDEN_MODELS)('finds nothing in %s', async (model) => {
  const checkpoint = await openCheckpoint(fileURLToPath(new URL(`../../golden/models/${model}`, import.meta.url)));
  expect(await findNonFinite(checkpoint)).toBeUndefined();
});

test.each(['F32', 'F16', 'BF16'])('finds NaN and both infinities in %s, and names tensor and index', async (type) => {
  const folder = await temporaryFolder();
  for (const [value, index] of [[NaN, 0], [Infinity, 50], [-Infinity, 95]] as const) {
    const tensors = tinyTensors(TINY_QWEN2, type);
    const name = 'model.layers.1.mlp.down_proj.weight';
    const data = Float32Array.from({ length: 96 }, (_, at) => (at === index ? value : type === 'F16' ? -65504 : -3.3e38));
    await writeTinyCheckpoint(folder, TINY_QWEN2, { ...tensors, [name]: { type, shape: [8, 12], data } });
    const found = await findNonFinite(await openCheckpoint(folder));
    expect(found).toMatchObject({ tensor: { name }, index });
    if (found !== undefined) {
      const error = notFiniteError(found.tensor, found.index);
      expect(error).toMatchObject({ name: 'CheckpointError', kind: 'not-finite', tensor: name });
      expect(error.message).toContain(`index ${index}`);
    }
  }
});

test('tells every pattern of 16 bits, in either half of a word and as an odd last value', () => {
  for (const [type, exponent] of [['float16', 0x7c00], ['bfloat16', 0x7f80]] as const) {
    const wrong: number[] = [];
    for (let pattern = 0; pattern < 65536; pattern += 1) {
      const finite = pattern & ~exponent;
      const bad = (pattern & exponent) === exponent;
      for (const [values, at] of [
        [[pattern, finite], 0], [[finite, pattern], 1], [[finite, finite, pattern], 2], [[pattern, finite, finite], 0],
      ] as const) {
        if (indexOfNonFinite(type, new Uint8Array(Uint16Array.from(values).buffer)) !== (bad ? at : -1)) wrong.push(pattern);
      }
    }
    expect(wrong).toEqual([]);
  }
});

test('tells every float32 as JavaScript does', () => {
  fc.assert(fc.property(fc.uint32Array({ maxLength: 8 }), fc.constantFrom(0, 0x7f800000, 0xff800000), (bits, exponent) => {
    const words = bits.map((word, index) => (index === 3 ? word | exponent : word));
    const expected = new Float32Array(words.buffer).findIndex((value) => !Number.isFinite(value));
    expect(indexOfNonFinite('float32', new Uint8Array(words.buffer))).toBe(expected);
  }), { numRuns: 1000 });
});

test('counts an index through a tensor that is longer than what is in memory at once', async () => {
  const folder = await temporaryFolder();
  const config = { ...TINY_QWEN3, vocab_size: 400_000 };
  const data = new Float32Array(3_200_000);
  data[3_199_999] = NaN;
  const tensors = { ...tinyTensors(config, 'BF16'), 'model.embed_tokens.weight': { type: 'BF16', shape: [400_000, 8], data } };
  await writeTinyCheckpoint(folder, config, tensors);
  expect(await findNonFinite(await openCheckpoint(folder))).toMatchObject({ index: 3_199_999 });
});

test('tells how far it is, over all shards, and ends when it is aborted', async () => {
  const folder = await temporaryFolder();
  await writeShardedCheckpoint(folder, 3);
  const checkpoint = await openCheckpoint(folder);
  const total = [...checkpoint.tensors.values()].reduce((sum, { byteLength }) => sum + byteLength, 0);
  const seen: number[] = [];
  await findNonFinite(checkpoint, { onProgress: (doneBytes, totalBytes) => {
    expect(totalBytes).toBe(total);
    seen.push(doneBytes);
  } });
  expect(seen).toHaveLength(checkpoint.tensors.size);
  expect(seen).toEqual([...seen].sort((one, other) => one - other));
  expect(seen.at(-1)).toBe(total);

  const controller = new AbortController();
  const reason = new Error('enough');
  let calls = 0;
  const aborted = findNonFinite(checkpoint, { signal: controller.signal, onProgress: () => {
    calls += 1;
    controller.abort(reason);
  } });
  await expect(aborted).rejects.toBe(reason);
  expect(calls).toBe(1);
});
