import { appendFile, cp, mkdir, readFile, rename, rm, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { expectedTensors } from '../../../backend/lm/checkpoint/decoder-weights.ts';
import { CheckpointError, UnsupportedModelError, type CheckpointErrorKind } from '../../../backend/lm/checkpoint/errors.ts';
import { inspectCheckpoint } from '../../../backend/lm/checkpoint/inspect.ts';
import { openCheckpoint } from '../../../backend/lm/checkpoint/open-checkpoint.ts';
import { GOLDEN_MODELS } from '../../golden/golden.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import {
  tinyTensors, TINY_QWEN2, TINY_QWEN3, writeIndex, writeShardedCheckpoint, writeTinyCheckpoint,
} from '../../support/tiny-checkpoint.ts';
import { writeSafetensors } from '../../support/write-safetensors.ts';

const golden = (model: string) => fileURLToPath(new URL(`../../golden/models/${model}`, import.meta.url));

/** Opening must fail with a CheckpointError whose sentence names the file and, where there is one, the tensor. */
async function refusal(folder: string, kind: CheckpointErrorKind, tensor?: string): Promise<CheckpointError> {
  const error: unknown = await openCheckpoint(folder).catch((thrown: unknown) => thrown);
  if (!(error instanceof CheckpointError)) throw error;
  expect(error).toMatchObject({ kind, tensor });
  expect(error.message).toContain(basename(error.file));
  if (tensor !== undefined) expect(error.message).toContain(tensor);
  return error;
}

test.each(GOLDEN_MODELS)('opens %s as transformers wrote it', async (model) => {
  const { folder, config, tensors, fingerprint } = await openCheckpoint(golden(model));
  expect(folder).toBe(golden(model));
  expect([...tensors.values()].map(({ name, shape }) => ({ name, shape }))).toEqual(expectedTensors(config));
  for (const [name, tensor] of tensors) {
    expect(tensor.name).toBe(name);
    expect(tensor.file.startsWith(folder)).toBe(true);
  }
  expect(fingerprint).toMatch(/^[0-9a-f]{64}$/);
});

test('says of a model what it is', async () => {
  expect(inspectCheckpoint(await openCheckpoint(golden('qwen2-tiny')))).toMatchObject({
    architecture: 'qwen2', types: ['bfloat16'], shards: 1, tiedEmbeddings: true, contextLength: 2048, layers: 3,
    stopTokenIds: [802, 800],
  });
  const untied = inspectCheckpoint(await openCheckpoint(golden('qwen2-tiny-untied')));
  expect(untied).toMatchObject({ types: ['float32'], shards: 5, tiedEmbeddings: false });
  expect(untied.weightBytes).toBe(untied.parameters * 4);
  // Embedding and head; per layer q and o, k and v, their biases, the MLP, two norms; the last norm.
  expect(untied.parameters).toBe(2 * 512 * 96 + 2 * (2 * 96 * 96 + 2 * 32 * 96 + (96 + 32 + 32) + 3 * 96 * 96 + 2 * 96) + 96);
  const qwen3 = inspectCheckpoint(await openCheckpoint(golden('qwen3-tiny')));
  expect(qwen3).toMatchObject({ architecture: 'qwen3', types: ['float16'], headSize: 32 });
});

test('reads shards by their index, and the single file where there are both', async () => {
  const folder = await temporaryFolder();
  await writeShardedCheckpoint(folder, 3);
  const sharded = await openCheckpoint(folder);
  expect(new Set([...sharded.tensors.values()].map(({ file }) => file)).size).toBe(3);
  await writeTinyCheckpoint(folder);
  const single = await openCheckpoint(folder);
  expect(new Set([...single.tensors.values()].map(({ file }) => file))).toEqual(new Set([join(folder, 'model.safetensors')]));
  expect([...single.tensors.keys()]).toEqual([...sharded.tensors.keys()]);
});

test('needs a config.json and weights in the safetensors format', async () => {
  const folder = await temporaryFolder();
  expect((await refusal(folder, 'missing-file')).file).toBe(join(folder, 'config.json'));
  await writeFile(join(folder, 'config.json'), JSON.stringify(TINY_QWEN2));
  await writeFile(join(folder, 'pytorch_model.bin'), '');
  expect((await refusal(folder, 'missing-file')).file).toBe(join(folder, 'model.safetensors'));
  await refusal(join(folder, 'nowhere'), 'missing-file');
});

test('refuses a config that is no JSON, no file, or far too long, and a model that it does not run', async () => {
  const folder = await temporaryFolder();
  const config = join(folder, 'config.json');
  await writeFile(config, '{"model_type":');
  await refusal(folder, 'malformed');
  await truncate(config, 16 * 1024 * 1024 + 1);
  await refusal(folder, 'malformed');
  await rm(config);
  await mkdir(config);
  await refusal(folder, 'malformed');
  await rm(config, { recursive: true });
  await writeTinyCheckpoint(folder, TINY_QWEN2);
  await writeFile(config, JSON.stringify({ ...TINY_QWEN2, model_type: 'llama' }));
  await expect(openCheckpoint(folder)).rejects.toBeInstanceOf(UnsupportedModelError);
});

test('refuses a weight file that was cut', async () => {
  const folder = await temporaryFolder();
  await writeTinyCheckpoint(folder);
  const file = join(folder, 'model.safetensors');
  await truncate(file, (await readFile(file)).length - 1);
  await refusal(folder, 'truncated');
});

test('refuses a checkpoint without one of its tensors', async () => {
  for (const name of ['model.norm.weight', 'model.layers.1.self_attn.k_proj.bias', 'lm_head.weight']) {
    const folder = await temporaryFolder();
    const { [name]: _left, ...rest } = tinyTensors(TINY_QWEN2);
    await writeTinyCheckpoint(folder, TINY_QWEN2, rest);
    await refusal(folder, 'missing-tensor', name);
  }
});

test('refuses a tensor in another shape, also one of as many values', async () => {
  for (const shape of [[12, 8, 1], [8, 12], [96]]) {
    const folder = await temporaryFolder();
    const name = 'model.layers.0.mlp.up_proj.weight';
    const tensor = { type: 'F32', shape, data: new Float32Array(96) };
    await writeTinyCheckpoint(folder, TINY_QWEN2, { ...tinyTensors(TINY_QWEN2), [name]: tensor });
    await refusal(folder, 'wrong-shape', name);
  }
});

test('refuses a fused matrix that is not as large as its parts', async () => {
  const folder = await temporaryFolder();
  await cp(golden('phi3-tiny'), folder, { recursive: true });
  const config = JSON.parse(await readFile(join(folder, 'config.json'), 'utf8')) as object;
  await writeFile(join(folder, 'config.json'), JSON.stringify({ ...config, num_key_value_heads: 4 }));
  await refusal(folder, 'wrong-shape', 'model.layers.0.self_attn.qkv_proj.weight');
});

test('refuses a tensor of a type that it does not read', async () => {
  for (const [type, bytes] of [['I8', 96], ['F8_E4M3', 96], ['F64', 768]] as const) {
    const folder = await temporaryFolder();
    const name = 'model.layers.1.mlp.gate_proj.weight';
    const tensor = { type, shape: [12, 8], data: new Uint8Array(bytes) };
    await writeTinyCheckpoint(folder, TINY_QWEN2, { ...tinyTensors(TINY_QWEN2), [name]: tensor });
    await refusal(folder, 'unsupported-type', name);
  }
});

test('leaves out what a model does not use, and refuses what would make it another model', async () => {
  const folder = await temporaryFolder();
  const tensors = tinyTensors(TINY_QWEN3, 'BF16');
  const extra = (length: number) => ({ type: 'F32', shape: [length], data: new Float32Array(length) });
  await writeTinyCheckpoint(folder, TINY_QWEN3, {
    ...tensors, 'lm_head.weight': extra(88), 'model.layers.0.self_attn.rotary_emb.inv_freq': extra(3),
  });
  expect([...(await openCheckpoint(folder)).tensors.keys()]).toEqual(Object.keys(tensors));
  for (const name of ['model.layers.0.self_attn.q_proj.bias', 'model.layers.1.mlp.up_proj.weight', 'score.weight']) {
    await writeTinyCheckpoint(folder, TINY_QWEN3, { ...tensors, [name]: extra(24) });
    await refusal(folder, 'unexpected-tensor', name);
  }
});

test.each([
  '../model.safetensors', '/etc/passwd', 'sub/model.safetensors', '..', '.', '', 'a\\b.safetensors', 'C:model.safetensors',
  '.hidden', 'model.safetensors:stream', 'model\0.safetensors', 'ü.safetensors', `${'a'.repeat(300)}.safetensors`,
])('refuses an index that names the file %j', async (name) => {
  const folder = await temporaryFolder();
  await writeShardedCheckpoint(folder, 1);
  await writeIndex(folder, Object.fromEntries(Object.keys(tinyTensors(TINY_QWEN2)).map((tensor) => [tensor, name])));
  await refusal(folder, 'unsafe-path');
});

test('refuses an index that is none', async () => {
  const folder = await temporaryFolder();
  await writeShardedCheckpoint(folder, 1);
  for (const map of [undefined, null, [], {}, 'model.safetensors', { 'model.norm.weight': 1 }]) {
    await writeIndex(folder, map);
    await refusal(folder, 'malformed');
  }
});

test('refuses shards that do not agree with the index', async () => {
  const folder = await temporaryFolder();
  const map = await writeShardedCheckpoint(folder, 2);
  const [first = '', second = ''] = Object.keys(map);
  const [one = '', other = ''] = [map[first], map[second]];
  await writeIndex(folder, { ...map, [first]: other });
  await refusal(folder, 'missing-tensor', first);
  const { [second]: _left, ...rest } = map;
  await writeIndex(folder, rest);
  await refusal(folder, 'unexpected-tensor', second);
  await writeIndex(folder, { ...map, 'model.layers.9.mlp.up_proj.weight': one });
  await refusal(folder, 'missing-tensor', 'model.layers.9.mlp.up_proj.weight');
  await writeIndex(folder, map);
  await rm(join(folder, other));
  expect((await refusal(folder, 'missing-file')).file).toBe(join(folder, other));
});

test("follows the links of Hugging Face's cache, and says where the bytes really lie", async () => {
  const model = join(await temporaryFolder(), 'models--someone--tiny');
  const snapshot = join(model, 'snapshots', '0123abcd');
  await writeTinyCheckpoint(snapshot);
  await mkdir(join(model, 'blobs'));
  for (const name of ['config.json', 'model.safetensors']) {
    await rename(join(snapshot, name), join(model, 'blobs', `hash-of-${name}`));
    await symlink(`../../blobs/hash-of-${name}`, join(snapshot, name));
  }
  const { folder, tensors } = await openCheckpoint(snapshot);
  expect(folder).toBe(snapshot);
  expect(tensors.get('model.norm.weight')?.file).toBe(join(model, 'blobs', 'hash-of-model.safetensors'));

  // Not from one model's cache into that of another.
  const strange = join(model, '..', 'models--someone--else', 'blobs');
  await mkdir(strange, { recursive: true });
  await rename(join(model, 'blobs', 'hash-of-model.safetensors'), join(strange, 'weights'));
  await rm(join(snapshot, 'model.safetensors'));
  await symlink(join(strange, 'weights'), join(snapshot, 'model.safetensors'));
  await refusal(snapshot, 'unsafe-path');
});

test('follows links to the folder and inside it, and none that leaves it', async () => {
  const parent = await temporaryFolder();
  const folder = join(parent, 'model');
  await writeTinyCheckpoint(folder);
  await symlink(folder, join(parent, 'link'));
  const { tensors } = await openCheckpoint(join(parent, 'link'));
  expect(tensors.get('model.norm.weight')?.file).toBe(join(folder, 'model.safetensors'));

  await rename(join(folder, 'model.safetensors'), join(folder, 'weights.bin'));
  await symlink('weights.bin', join(folder, 'model.safetensors'));
  await openCheckpoint(folder);

  // The name of a neighbour begins like the folder's own.
  await mkdir(join(parent, 'model-2'));
  await rename(join(folder, 'weights.bin'), join(parent, 'model-2', 'weights.bin'));
  await rm(join(folder, 'model.safetensors'));
  await symlink('../model-2/weights.bin', join(folder, 'model.safetensors'));
  await refusal(folder, 'unsafe-path');
});

test('the fingerprint changes with the weights and with nothing else', async () => {
  const folder = await temporaryFolder();
  await writeTinyCheckpoint(folder);
  const fingerprint = async () => (await openCheckpoint(folder)).fingerprint;
  const before = await fingerprint();
  expect(await fingerprint()).toBe(before);
  await writeFile(join(folder, 'tokenizer.json'), '{}');
  await rename(folder, `${folder}-moved`);
  await rename(`${folder}-moved`, folder);
  expect(await fingerprint()).toBe(before);

  const file = join(folder, 'model.safetensors');
  await utimes(file, 1, 1);
  const touched = await fingerprint();
  expect(touched).not.toBe(before);
  await writeSafetensors(file, tinyTensors(TINY_QWEN2, 'F16'));
  await utimes(file, 1, 1);
  expect(await fingerprint()).not.toBe(touched);
  await appendFile(file, 'x');
  await refusal(folder, 'malformed');
});
