import { describe, expect, it } from 'vitest';
import { type Adapter, loraTensorName } from '../../../backend/lm/adapter/read-adapter.ts';
import { openCheckpoint } from '../../../backend/lm/checkpoint/open-checkpoint.ts';
import { readTensor } from '../../../backend/lm/checkpoint/read-tensor.ts';
import { readSafetensorsHeader, storedTensor } from '../../../backend/lm/checkpoint/safetensors-file.ts';
import { AdapterFeeds } from '../../../backend/lm/decoder/adapter-feeds.ts';
import { causalAttention, fusedCausalAttention } from '../../../backend/lm/decoder/attention.ts';
import { Decoder, rotaryTables } from '../../../backend/lm/decoder/decoder.ts';
import { uniform } from '../../../backend/lm/decoder/noise.ts';
import { adapterInput, DecoderWeights, type ProductForm } from '../../../backend/lm/decoder/weights.ts';
import { gradients } from '../../../backend/lm/graph/gradients.ts';
import { Graph, type Tensor } from '../../../backend/lm/graph/graph.ts';
import { divide, negate } from '../../../backend/lm/graph/ops/arithmetic.ts';
import { gather, gatherElements } from '../../../backend/lm/graph/ops/indexing.ts';
import { logSoftmax } from '../../../backend/lm/graph/ops/neural.ts';
import { reshape, sum } from '../../../backend/lm/graph/ops/shape.ts';
import { type Feeds, float32s, int32s, int64s, Session } from '../../../backend/lm/graph/session.ts';
import { GOLDEN_MODELS, type GoldenModel, gradientsFile, modelFolder, readFigures } from '../../golden/golden.ts';
import { goldenAdapter } from './tiny-model.ts';

const CONTEXT = 128;

interface Training {
  readonly adapter?: Adapter | undefined;
  /** Names of weights that are fed. */
  readonly trainable?: readonly string[];
  readonly form: ProductForm;
}

/** The mean negative log-probability of the completions of the golden sequences, and its gradients with respect to inputs of the graph. */
async function lossAndGradients(model: GoldenModel, wanted: readonly string[], { adapter, trainable = [], form }: Training) {
  const checkpoint = await openCheckpoint(modelFolder(model));
  const { config } = checkpoint;
  const g = new Graph();
  const weights = new DecoderWeights(g, checkpoint, {
    device: 'cpu', compute: 'float32', adapters: adapter !== undefined, trainable: new Set(trainable), repackWeights: form === 'repacked',
  });
  const decoder = new Decoder(config, weights, rotaryTables(g, config, CONTEXT, 'float32'));
  const ids = g.input('ids', 'int64', ['sequences', 'width']);
  const hidden = decoder.layers(g, reshape(g, ids, ['tokens']), {
    tokens: 'tokens',
    form,
    attend: (b, projected) => causalAttention(b, decoder, projected, { batch: 'sequences', length: 'width' }).output,
  });
  const places = gather(g, hidden, g.input('from', 'int64', ['places']));
  const targets = g.input('targets', 'int64', ['places', 1]);
  const logprobs = gatherElements(g, logSoftmax(g, decoder.logits(g, places, form)), targets, 1);
  const loss = negate(g, divide(g, sum(g, logprobs, [0, 1]), g.input('count', 'float32', [])));
  const inputs = wanted.map((name) => g.inputs.find(({ origin }) => origin.kind === 'input' && origin.name === name) as Tensor);
  const outputs = gradients(g, loss, inputs);

  const feeds: Record<string, Feeds[string]> = { ...(await gradientFeeds(model)), ...(adapter && new AdapterFeeds(config).of(adapter)) };
  for (const name of trainable) {
    const stored = checkpoint.tensors.get(name)!;
    feeds[name] = float32s(stored.shape, await readTensor(stored));
  }
  const named = Object.fromEntries(wanted.map((name, index) => [`gradient of ${name}`, outputs[index] as Tensor]));
  const session = await Session.open(g, { loss, ...named }, { device: 'cpu', threads: 1, repackWeights: form === 'repacked' });
  try {
    const results = await session.run(feeds, ['loss', ...Object.keys(named)]);
    const numbers = (name: string): Float32Array => results[name]?.data as Float32Array;
    return { loss: numbers('loss')[0] as number, gradients: new Map(wanted.map((name) => [name, numbers(`gradient of ${name}`)])) };
  } finally {
    await session.close();
  }
}

/** All golden sequences in one batch, padded on the right. */
async function gradientFeeds(model: GoldenModel): Promise<Feeds> {
  const { sequences, promptLengths } = await readFigures(model);
  const width = Math.max(...sequences.map(({ length }) => length));
  const from: number[] = [];
  const targets: number[] = [];
  sequences.forEach((sequence, row) => {
    for (let place = promptLengths[row] as number; place < sequence.length; place += 1) {
      from.push(row * width + place - 1);
      targets.push(sequence[place] as number);
    }
  });
  return {
    ids: int64s([sequences.length, width], sequences.flatMap((sequence) => Array.from({ length: width }, (_, place) => sequence[place] ?? 0))),
    from: int64s([from.length], from),
    targets: int64s([targets.length, 1], targets),
    count: float32s([], [targets.length]),
  };
}

/** What PyTorch has, by the names in its file. */
async function goldenGradients(name: string): Promise<ReadonlyMap<string, Float32Array>> {
  const { tensors } = await readSafetensorsHeader(gradientsFile(name));
  return new Map(await Promise.all(tensors.map(async (tensor) => [tensor.name, await readTensor(storedTensor(tensor))] as const)));
}

/** The largest difference, as a share of the largest number. */
function relativeDifference(values: ArrayLike<number>, expected: Float32Array): number {
  let worst = 0;
  expected.forEach((value, index) => {
    const difference = Math.abs((values[index] as number) - value);
    worst = difference <= worst ? worst : difference;
  });
  return worst / expected.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
}

/** Of the largest component of a gradient. 5.3e-6 was the most when this was written. */
const TOLERANCE = 5e-5;

const adaptersOf: readonly (readonly [GoldenModel, string])[] = [
  ['qwen2-tiny', 'qwen2-tiny-all'], ['qwen2-tiny', 'qwen2-tiny-attention'], ['qwen3-tiny', 'qwen3-tiny-all'],
  ['gemma3-tiny', 'gemma3-tiny-all'],
];

describe('gradients through the whole decoder', () => {
  it.each(adaptersOf)('%s: of the adapter %s are those of PyTorch', async (model, name) => {
    const adapter = await goldenAdapter(model, name);
    const expected = await goldenGradients(name);
    const trained = adapter.layers.flatMap((layer, index) => [...layer.keys()].map((projection) => [index, projection] as const));
    const wanted = trained.flatMap(([layer, projection]) => [adapterInput(layer, projection, 'a'), adapterInput(layer, projection, 'b')]);
    expect(wanted).toHaveLength(expected.size);
    for (const form of ['stored', 'repacked'] as const) {
      const { loss, gradients: ours } = await lossAndGradients(model, wanted, { adapter, form });
      expect(loss).toBeCloseTo((await readFigures(model)).adapters[name]?.loss as number, 4);
      for (const [layer, projection] of trained) {
        const gradientOf = (side: 'a' | 'b'): Float32Array => ours.get(adapterInput(layer, projection, side)) as Float32Array;
        const [a, b] = [expected.get(loraTensorName(layer, projection, 'A'))!, expected.get(loraTensorName(layer, projection, 'B'))!];
        // The b that is fed is already scaled.
        const ofB = gradientOf('b').map((value) => value * adapter.scaling);
        const message = `${form} ${layer} ${projection}`;
        expect(gradientOf('a').length, message).toBe(a.length);
        expect(relativeDifference(gradientOf('a'), a), message).toBeLessThan(TOLERANCE);
        expect(relativeDifference(ofB, b), message).toBeLessThan(TOLERANCE);
      }
    }
  });

  it.each(GOLDEN_MODELS)('%s: of its own weights are those of PyTorch', async (model) => {
    const expected = await goldenGradients(model);
    const wanted = [...expected.keys()];
    const { loss, gradients: ours } = await lossAndGradients(model, wanted, { trainable: wanted, form: 'stored' });
    expect(loss).toBeCloseTo((await readFigures(model)).base.loss, 4);
    for (const [name, values] of expected) {
      // The first rows only where the table is large.
      expect(relativeDifference(ours.get(name)?.subarray(0, values.length) as Float32Array, values), name).toBeLessThan(TOLERANCE);
    }
  });
});

describe('attention made of plain operations', () => {
  const geometries = [
    ['of qwen2-tiny', 'qwen2-tiny', {}],
    ['of qwen2-tiny-untied', 'qwen2-tiny-untied', {}],
    ['of qwen3-tiny', 'qwen3-tiny', {}],
    ['of Qwen2.5-0.5B', 'qwen2-tiny', { attentionHeads: 14, keyValueHeads: 2, headSize: 64 }],
    ['of Qwen3-0.6B', 'qwen3-tiny', { attentionHeads: 16, keyValueHeads: 8, headSize: 128 }],
    ['without groups', 'qwen2-tiny', { attentionHeads: 4, keyValueHeads: 4, headSize: 16 }],
    ['of gemma3-tiny, with a window and another scale', 'gemma3-tiny', {}],
  ] as const;

  it.each(geometries)('is that of the fused kernel in the geometry %s, and so is its cache', async (_name, model, changes) => {
    const checkpoint = await openCheckpoint(modelFolder(model));
    const config = { ...checkpoint.config, ...changes };
    const { attentionHeads, keyValueHeads, headSize } = config;
    const g = new Graph();
    const weights = new DecoderWeights(g, checkpoint, { device: 'cpu', compute: 'float32', adapters: false });
    const decoder = new Decoder(config, weights, rotaryTables(g, config, CONTEXT, 'float32'));
    const side = (name: string, heads: number): Tensor => g.input(name, 'float32', ['batch', 'length', heads, headSize]);
    const given = { query: side('query', attentionHeads), key: side('key', keyValueHeads), value: side('value', keyValueHeads) };
    const tokens = (x: Tensor): Tensor => reshape(g, x, ['tokens', x.shape[2]!, headSize]);
    const projected = { query: tokens(given.query), key: tokens(given.key), value: tokens(given.value), sight: decoder.sight(0) };
    const rows = { batch: 'batch', length: 'length', total: g.input('total', 'int32', []) };
    const [plain, fused] = [causalAttention(g, decoder, projected, rows), fusedCausalAttention(g, decoder, projected, rows)];
    const outputs = {
      plain: plain.output, plainKey: plain.cache.key, plainValue: plain.cache.value,
      fused: fused.output, fusedKey: fused.cache.key, fusedValue: fused.cache.value,
    };
    const session = await Session.open(g, outputs, { device: 'cpu', threads: 1 });
    for (const [batch, length] of [[1, 1], [3, 7], [2, 70], [1, CONTEXT]] as const) {
      const random = (seed: number, heads: number) => float32s(
        [batch, length, heads, headSize],
        Float32Array.from({ length: batch * length * heads * headSize }, (_, index) => 6 * uniform(seed, index) - 3),
      );
      const results = await session.run(
        { total: int32s([], [length]), query: random(1, attentionHeads), key: random(2, keyValueHeads), value: random(3, keyValueHeads) },
        ['plain', 'plainKey', 'plainValue', 'fused', 'fusedKey', 'fusedValue'],
      );
      for (const part of ['', 'Key', 'Value'] as const) {
        const [ours, kernels] = [results[`plain${part}`].data as Float32Array, results[`fused${part}`].data as Float32Array];
        expect(ours).toHaveLength(batch * length * headSize * (part === '' ? attentionHeads : keyValueHeads));
        expect(relativeDifference(ours, kernels), `${batch} ${length} ${part}`).toBeLessThan(1e-5);
        if (part === 'Value') expect(ours).toEqual(kernels);
      }
    }
    await session.close();
  });
});
