import { mkdir, rm, truncate, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { AdapterError } from '../../../backend/lm/adapter/errors.ts';
import { inspectAdapter, inspectAdapters } from '../../../backend/lm/adapter/inspect-adapters.ts';
import { projectionSize, PROJECTIONS } from '../../../backend/lm/adapter/projections.ts';
import { loraTensorName, outlineAdapter, readAdapter } from '../../../backend/lm/adapter/read-adapter.ts';
import { parseDecoderConfig } from '../../../backend/lm/checkpoint/decoder-config.ts';
import { CheckpointError } from '../../../backend/lm/checkpoint/errors.ts';
import { openCheckpoint } from '../../../backend/lm/checkpoint/open-checkpoint.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { TINY_QWEN2, TINY_QWEN3 } from '../../support/tiny-checkpoint.ts';
import { writeSafetensors, type TensorToWrite } from '../../support/write-safetensors.ts';

const MODEL = parseDecoderConfig(TINY_QWEN2);
const PLAIN = { peft_type: 'LORA', r: 2, lora_alpha: 6, target_modules: ['q_proj'], bias: 'none', init_lora_weights: true };

const A = 'base_model.model.model.layers.1.self_attn.q_proj.lora_A.weight';
const B = 'base_model.model.model.layers.1.self_attn.q_proj.lora_B.weight';
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index / 4);
/** One pair, of the query projection of the second layer of two. */
const PAIR: Record<string, TensorToWrite> = {
  [A]: { type: 'F32', shape: [2, 8], data: numbers(16) },
  [B]: { type: 'F32', shape: [8, 2], data: numbers(16) },
};

async function adapterFolder(config: unknown = PLAIN, tensors: Readonly<Record<string, TensorToWrite>> = PAIR): Promise<string> {
  const folder = join(await temporaryFolder(), 'my-adapter');
  await mkdir(folder);
  await writeFile(join(folder, 'adapter_config.json'), JSON.stringify(config));
  await writeSafetensors(join(folder, 'adapter_model.safetensors'), tensors);
  return folder;
}

async function refusal(folder: string): Promise<AdapterError> {
  const error: unknown = await readAdapter(folder, MODEL).catch((thrown: unknown) => thrown);
  if (!(error instanceof AdapterError)) throw error;
  expect(error.folder).toBe(folder);
  expect(error.message).toContain(error.field ?? error.tensor ?? 'adapter_model.safetensors');
  return error;
}

const goldenFolder = (kind: 'models' | 'adapters', name: string) =>
  fileURLToPath(new URL(`../../golden/${kind}/${name}`, import.meta.url));

test('refuses a pair of a fused matrix with another number of rows, and one of a model without such matrices', async () => {
  const { config } = await openCheckpoint(goldenFolder('models', 'phi3-tiny'));
  const name = (half: 'A' | 'B') => `base_model.model.model.layers.1.self_attn.qkv_proj.lora_${half}.weight`;
  const pair = (rows: number): Record<string, TensorToWrite> => ({
    [name('A')]: { type: 'F32', shape: [2, 64], data: numbers(128) },
    [name('B')]: { type: 'F32', shape: [rows, 2], data: numbers(2 * rows) },
  });
  expect((await readAdapter(await adapterFolder(PLAIN, pair(128)), config)).targets).toEqual(['q_proj', 'k_proj', 'v_proj']);
  await expect(readAdapter(await adapterFolder(PLAIN, pair(126)), config)).rejects.toThrow(AdapterError);
  expect((await refusal(await adapterFolder(PLAIN, pair(128)))).tensor).toBe(name('A'));
});

test.each([
  ['qwen2-tiny', 'qwen2-tiny-all', 4, 2, PROJECTIONS],
  ['qwen2-tiny', 'qwen2-tiny-attention', 3, 6 / Math.sqrt(3), ['q_proj', 'v_proj']],
  ['qwen3-tiny', 'qwen3-tiny-all', 4, 2, PROJECTIONS],
  ['phi3-tiny', 'phi3-tiny-all', 4, 2, PROJECTIONS],
  ['phi4-tiny', 'phi4-tiny-all', 4, 2, PROJECTIONS],
  ['gemma3-tiny', 'gemma3-tiny-all', 4, 2, PROJECTIONS],
] as const)('reads what peft saved for %s as %s', async (model, name, rank, scaling, targets) => {
  const { config } = await openCheckpoint(goldenFolder('models', model));
  const adapter = await readAdapter(goldenFolder('adapters', name), config);
  expect(adapter).toMatchObject({ name, rank, scaling, targets });
  expect(adapter.layers).toHaveLength(config.layers);
  for (const layer of adapter.layers) {
    expect([...layer.keys()]).toEqual(targets);
    for (const [projection, { a, b }] of layer) {
      const size = projectionSize(config, projection);
      expect([a.length, b.length]).toEqual([rank * size.in, size.out * rank]);
      expect(a.some((value) => value !== 0) && b.some((value) => value !== 0)).toBe(true);
    }
  }
});

test('can be outlined without its weights, under the same version', async () => {
  const { config } = await openCheckpoint(goldenFolder('models', 'qwen3-tiny'));
  const folder = goldenFolder('adapters', 'qwen3-tiny-all');
  const { layers, ...adapter } = await readAdapter(folder, config);
  const parameters = layers.flatMap((layer) => [...layer.values()]).reduce((sum, { a, b }) => sum + a.length + b.length, 0);
  expect(await outlineAdapter(folder, config)).toEqual({ ...adapter, parameters });
});

test('reads the pairs that are there and leaves the other layers alone', async () => {
  const folder = await adapterFolder();
  const adapter = await readAdapter(folder, MODEL);
  expect(adapter).toMatchObject({ name: 'my-adapter', folder, rank: 2, scaling: 3, targets: ['q_proj'] });
  expect(adapter.layers.map((layer) => layer.size)).toEqual([0, 1]);
  expect(adapter.layers[1]?.get('q_proj')).toEqual({ a: Float32Array.from(numbers(16)), b: Float32Array.from(numbers(16)) });
});

test('any projection can have a pair, in any of the three types', async () => {
  const config = parseDecoderConfig(TINY_QWEN3);
  for (const [index, projection] of PROJECTIONS.entries()) {
    const size = projectionSize(config, projection);
    const type = ['F32', 'F16', 'BF16'][index % 3] ?? 'F32';
    const tensors = {
      [loraTensorName(0, projection, 'B')]: { type, shape: [size.out, 2], data: numbers(size.out * 2) },
      [loraTensorName(0, projection, 'A')]: { type, shape: [2, size.in], data: numbers(size.in * 2) },
    };
    const { targets, layers } = await readAdapter(await adapterFolder(PLAIN, tensors), config);
    expect(targets).toEqual([projection]);
    expect([...(layers[0]?.get(projection)?.b ?? [])]).toEqual(numbers(size.out * 2));
  }
});

test('a projection is as large as its weight in the model', () => {
  const config = { ...MODEL, headSize: 6 };
  expect(PROJECTIONS.map((projection) => projectionSize(config, projection))).toEqual([
    { in: 8, out: 24 }, { in: 8, out: 12 }, { in: 8, out: 12 }, { in: 24, out: 8 },
    { in: 8, out: 12 }, { in: 8, out: 12 }, { in: 12, out: 8 },
  ]);
});

test('rank-stabilised adapters are scaled by the root of the rank', async () => {
  const { scaling } = await readAdapter(await adapterFolder({ ...PLAIN, use_rslora: true }), MODEL);
  expect(scaling).toBeCloseTo(6 / Math.SQRT2, 12);
});

test('the version is that of the numbers: not of the folder, the type or the order in the file', async () => {
  const version = async (...[config, tensors]: Parameters<typeof adapterFolder>) =>
    (await readAdapter(await adapterFolder(config, tensors), MODEL)).version;
  const plain = await version();
  expect(await version({ ...PLAIN, base_model_name_or_path: 'elsewhere' })).toBe(plain);
  const narrow = Object.fromEntries(Object.entries(PAIR).reverse().map(([name, tensor]) => [name, { ...tensor, type: 'BF16' }]));
  expect(await version(PLAIN, narrow)).toBe(plain);

  const others = [
    await version({ ...PLAIN, lora_alpha: 7 }),
    await version(PLAIN, { ...PAIR, [A]: { type: 'F32', shape: [2, 8], data: numbers(16).with(15, 0) } }),
    await version(PLAIN, Object.fromEntries(Object.entries(PAIR).map(([name, tensor]) => [name.replace('.1.', '.0.'), tensor]))),
  ];
  expect(new Set([plain, ...others]).size).toBe(4);
});

test.each([
  ['target_modules', 'all-linear'], ['target_modules', '.*q_proj'], ['layers_to_transform', [1]], ['layers_pattern', 'layers'],
  ['modules_to_save', null], ['modules_to_save', []], ['rank_pattern', {}], ['alpha_pattern', {}], ['loftq_config', {}],
  ['init_lora_weights', 'gaussian'], ['init_lora_weights', 'eva'], ['use_dora', false], ['use_rslora', null],
  ['megatron_core', 'megatron.core'], ['qalora_group_size', 16], ['task_type', 'CAUSAL_LM'], ['a_field_of_the_future', 1],
])('takes an adapter whose %s is %j', async (field, value) => {
  expect((await readAdapter(await adapterFolder({ ...PLAIN, [field]: value }), MODEL)).targets).toEqual(['q_proj']);
});

test.each([
  ['peft_type', 'IA3'], ['peft_type', undefined], ['use_dora', true], ['modules_to_save', ['lm_head']],
  ['rank_pattern', { q_proj: 4 }], ['alpha_pattern', { q_proj: 4 }], ['bias', 'all'], ['bias', 'lora_only'],
  ['fan_in_fan_out', true], ['lora_bias', true],
  ['layer_replication', [[0, 2], [1, 2]]], ['use_qalora', true], ['use_bdlora', { nblocks: 2 }], ['target_parameters', ['w']],
  ['trainable_token_indices', [1]], ['alora_invocation_tokens', [1]], ['arrow_config', { top_k: 1 }],
  ['kasa_config', { beta: 1 }],
  ['init_lora_weights', 'pissa_niter_4'], ['init_lora_weights', 'olora'], ['init_lora_weights', 'loftq'],
  ['r', 0], ['r', 2.5], ['r', undefined], ['r', 1e9], ['lora_alpha', '16'], ['lora_alpha', undefined], ['use_rslora', 'yes'],
])('refuses an adapter whose %s is %j and names the field', async (field, value) => {
  expect((await refusal(await adapterFolder({ ...PLAIN, [field]: value }))).field).toBe(field);
});

test('refuses a configuration that is no object', async () => {
  expect((await refusal(await adapterFolder([]))).field).toBe('its content');
});

test('refuses a rank that the weights do not have, and weights for a model of another size', async () => {
  expect((await refusal(await adapterFolder({ ...PLAIN, r: 4 }))).tensor).toBe(A);
  const turned = { ...PAIR, [B]: { type: 'F32', shape: [2, 8], data: numbers(16) } };
  expect((await refusal(await adapterFolder(PLAIN, turned))).tensor).toBe(B);
  const wider = { ...PAIR, [A]: { type: 'F32', shape: [2, 16], data: numbers(32) } };
  expect((await refusal(await adapterFolder(PLAIN, wider))).tensor).toBe(A);
});

test('refuses half a pair, and names the half that is missing', async () => {
  for (const [left, missing] of [[A, B], [B, A]] as const) {
    expect((await refusal(await adapterFolder(PLAIN, { [left]: PAIR[left] as TensorToWrite }))).tensor).toBe(missing);
  }
});

test.each([
  'base_model.model.model.layers.2.self_attn.q_proj.lora_A.weight',
  'base_model.model.model.layers.01.self_attn.q_proj.lora_A.weight',
  'base_model.model.model.layers.0.mlp.q_proj.lora_A.weight',
  'base_model.model.model.layers.0.self_attn.q_proj.lora_magnitude_vector',
  'base_model.model.lm_head.lora_A.weight',
  'model.layers.0.self_attn.q_proj.weight',
  '__proto__',
])('refuses weights for %s, which no projection of the model has', async (name) => {
  const tensors = Object.fromEntries([...Object.entries(PAIR), [name, { type: 'F32', shape: [2, 8], data: numbers(16) }]]);
  expect((await refusal(await adapterFolder(PLAIN, tensors))).tensor).toBe(name);
});

test('refuses an adapter without weights', async () => {
  await refusal(await adapterFolder(PLAIN, {}));
});

test('refuses weights that are no numbers', async () => {
  for (const value of [NaN, Infinity]) {
    const tensors = { ...PAIR, [B]: { type: 'F32', shape: [8, 2], data: numbers(16).with(9, value) } };
    const error = await refusal(await adapterFolder(PLAIN, tensors));
    expect(error.tensor).toBe(B);
    expect(error.message).toContain('index 9');
  }
});

test('reports missing and damaged files as it does those of models', async () => {
  const folder = await adapterFolder();
  const weights = join(folder, 'adapter_model.safetensors');
  await truncate(weights, 300);
  await expect(readAdapter(folder, MODEL)).rejects.toMatchObject({ name: 'CheckpointError', kind: 'truncated' });
  await writeSafetensors(weights, { ...PAIR, [A]: { type: 'I8', shape: [2, 8], data: new Uint8Array(16) } });
  await expect(readAdapter(folder, MODEL)).rejects.toMatchObject({ kind: 'unsupported-type', tensor: A });
  await rm(weights);
  await expect(readAdapter(folder, MODEL)).rejects.toMatchObject({ kind: 'missing-file', file: weights });
  await writeFile(join(folder, 'adapter_config.json'), '{');
  await expect(readAdapter(folder, MODEL)).rejects.toMatchObject({ kind: 'malformed' });
  await rm(join(folder, 'adapter_config.json'));
  await expect(readAdapter(folder, MODEL)).rejects.toBeInstanceOf(CheckpointError);
});

test('says of each adapter in a folder whether it fits the model, and why not', async () => {
  const { config } = await openCheckpoint(goldenFolder('models', 'qwen2-tiny'));
  const [gemma, llama, phi3, phi4, all, attention, qwen3, ...none] = await inspectAdapters(goldenFolder('adapters', ''), config);
  expect(gemma).toMatchObject({ name: 'gemma3-tiny-all', compatible: false });
  expect(phi3).toMatchObject({ name: 'phi3-tiny-all', compatible: false });
  expect(phi4).toMatchObject({ name: 'phi4-tiny-all', compatible: false });
  // Of another model, whose shapes are the same.
  expect(llama).toMatchObject({ name: 'llama-tiny-all', compatible: true });
  expect(all).toMatchObject({ name: 'qwen2-tiny-all', compatible: true, rank: 4, targets: PROJECTIONS });
  expect(attention).toMatchObject({ name: 'qwen2-tiny-attention', compatible: true, targets: ['q_proj', 'v_proj'] });
  // Three layers; a is [3, 64] twice, b is [64, 3] and [32, 3].
  expect(attention).toMatchObject({ parameters: 3 * (3 * 64 * 2 + 3 * 64 + 3 * 32) });
  expect(qwen3).toMatchObject({ name: 'qwen3-tiny-all', compatible: false, problem: expect.stringContaining('has the shape') });
  expect(none).toEqual([]);

  const parent = await temporaryFolder();
  await writeFile(join(parent, 'file'), '');
  await mkdir(join(parent, 'no-adapter'));
  expect(await inspectAdapters(parent, config)).toEqual([]);
  expect(await inspectAdapter(parent, config)).toMatchObject({ name: basename(parent), compatible: false });
  await expect(inspectAdapters(join(parent, 'nowhere'), config)).rejects.toMatchObject({ kind: 'unreadable' });
});
