import { BinaryReader } from '@bufbuild/protobuf/wire';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Checkpoint, openCheckpoint } from '../../../backend/lm/checkpoint/open-checkpoint.ts';
import { Decoder, rotaryTables } from '../../../backend/lm/decoder/decoder.ts';
import { generateChunk, generationInputs } from '../../../backend/lm/decoder/generation.ts';
import { gradientInputs, gradientsOfTokens } from '../../../backend/lm/decoder/gradient-program.ts';
import { adapterInputs, locateTrained } from '../../../backend/lm/decoder/gradient-run.ts';
import { scoreTokens, scoringInputs } from '../../../backend/lm/decoder/scoring.ts';
import { DecoderWeights } from '../../../backend/lm/decoder/weights.ts';
import type { ComputeType } from '../../../backend/lm/device/devices.ts';
import { encodeModel } from '../../../backend/lm/graph/encode-model.ts';
import { Graph } from '../../../backend/lm/graph/graph.ts';
import { bodiesOf, forwardInputs, onnxOf } from '../../../backend/lm/graph/onnx-of.ts';
import { multiply } from '../../../backend/lm/graph/ops/arithmetic.ts';
import { openQuantized } from '../../../backend/lm/quantize/quantized-store.ts';
import { QWEN_MODELS, modelFolder } from '../../golden/golden.ts';
import { CUDA_KERNELS, isRegistered } from './cuda-kernels.ts';
import { allOperations, copiesIn, operatorOf, placeNodes, slotOf } from './cuda-placement.ts';

/*
 * No GPU here, so this is what can be known without one: that onnxruntime's CUDA provider has a kernel for every node of the decoder, in
 * the version and the types that are written. A node without one would run on the CPU, in every layer of every step.
 */

const COMPUTE: readonly ComputeType[] = ['float32', 'float16', 'bfloat16'];
const BITS = [undefined, 4, 8] as const;

const cases = QWEN_MODELS.flatMap((model) => COMPUTE.flatMap((compute) => BITS.flatMap((bits) =>
  [true, false].map((adapters) => ({ model, compute, bits, adapters })))));
type Case = (typeof cases)[number];

let storage: string;
beforeAll(async () => {
  storage = await mkdtemp(path.join(os.tmpdir(), 'cuda-kernels-'));
});
afterAll(() => rm(storage, { recursive: true }));

/** The programs of a session (see decoder-session.ts) as they are written for CUDA; that of training where there is an adapter to train. */
async function decoderFor({ model, compute, bits, adapters }: Case): Promise<Graph> {
  const checkpoint = await openCheckpoint(modelFolder(model));
  const quantized = bits && (await quantizedWeights(checkpoint, bits));
  const graph = new Graph();
  const { config } = checkpoint;
  const weights = new DecoderWeights(graph, checkpoint, { device: 'cuda', compute, adapters, quantized });
  const decoder = new Decoder(config, weights, rotaryTables(graph, config, 64, compute));
  generateChunk(graph, decoder, generationInputs(graph, decoder));
  scoreTokens(graph, decoder, scoringInputs(graph));
  if (adapters) {
    const { trained, wanted } = locateTrained(graph, adapterInputs(config), config);
    gradientsOfTokens(graph, decoder, gradientInputs(graph), trained, wanted, true);
  }
  return graph;
}

async function quantizedWeights(checkpoint: Checkpoint, bits: 4 | 8) {
  return (await openQuantized(checkpoint, { bits, blockSize: 32, storage, signal: new AbortController().signal })).tensors;
}

/** The version of ONNX's own operators that a model says it is written in. */
function opsetOf(model: Uint8Array): number | undefined {
  const reader = new BinaryReader(model);
  while (reader.pos < reader.len) {
    const [field, wire] = reader.tag();
    if (field !== 8) {
      reader.skip(wire);
      continue;
    }
    const opset = new BinaryReader(reader.bytes());
    let domain = '';
    let version = 0;
    while (opset.pos < opset.len) {
      const [inner] = opset.tag();
      if (inner === 1) domain = opset.string();
      else version = Number(opset.int64());
    }
    if (domain === '') return version;
  }
  return undefined;
}

function opset(): number {
  const graph = new Graph();
  const x = graph.input('x', 'float32', [1]);
  return opsetOf(encodeModel(graph, { y: multiply(graph, x, x) })) as number;
}

/** What CUDA has no kernel for, as `operator: why`, each once. */
function withoutKernel(graph: Graph, version: number): string[] {
  const found = allOperations(graph).flatMap(({ operation }) => {
    const name = operatorOf(operation);
    const kernel = CUDA_KERNELS[name];
    if (!kernel) return [`${name}: not in the table`];
    if (!name.startsWith('com.microsoft.') && !isRegistered(kernel, version)) return [`${name}: not as opset ${version} defines it`];
    const { operands = [] } = onnxOf(operation);
    const inputs = [...forwardInputs(operation).map((input) => input?.element), ...operands.map(({ element }) => element)];
    const outputs = operation.outputs.map(({ element }) => element);
    const wrong = (side: string, slots: typeof kernel.inputs, elements: typeof inputs, variadic: boolean): string[] =>
      elements.flatMap((element, index) => {
        if (!element) return [];
        const slot = slotOf(slots, index, variadic);
        return slot?.elements.includes(element) ? [] : [`${name}: ${side} ${index} is ${element}`];
      });
    const isControl = name === 'If' || name === 'Loop';
    return [...wrong('input', kernel.inputs, inputs, kernel.variadic), ...wrong('output', kernel.outputs, outputs, isControl)];
  });
  return [...new Set(found)];
}

describe.each(cases)('$model computing in $compute, $bits bits, adapters: $adapters', (which) => {
  it('has a CUDA kernel for every node', async () => {
    expect(withoutKernel(await decoderFor(which), opset())).toEqual([]);
  });
});

describe.each(COMPUTE)('in %s', (compute) => {
  it('lengths and limits that kernels read on the host are inputs: for the copy of a computed one, onnxruntime 1.30 does not wait', async () => {
    const graph = await decoderFor({ model: 'qwen2-tiny', compute, bits: undefined, adapters: true });
    const read = allOperations(graph).flatMap(({ operation }) => {
      const at = { 'com.microsoft.GroupQueryAttention': 6, 'Loop': 0 }[operatorOf(operation)];
      return at === undefined ? [] : [`${operatorOf(operation)}: ${operation.inputs[at]?.origin.kind}`];
    });
    const expected = [...(compute === 'float32' ? [] : ['com.microsoft.GroupQueryAttention: input']), 'Loop: input'];
    expect([...new Set(read)].sort()).toEqual(expected.sort());
  });
});

/** The bodies of loops, and of branches in them: what runs again and again. */
function loopBodies(graph: Graph, inLoop = false): Graph[] {
  return graph.operations.flatMap((operation) => bodiesOf(operation).flatMap((body) => {
    const repeated = inLoop || operatorOf(operation) === 'Loop';
    return [...(repeated ? [body.graph] : []), ...loopBodies(body.graph, repeated)];
  }));
}

describe.each(COMPUTE)('a step in %s', (compute) => {
  it('copies nothing between host and device but a few sizes', async () => {
    const graph = await decoderFor({ model: 'qwen2-tiny', compute, bits: undefined, adapters: true });
    const placed = placeNodes(graph);
    const copies = loopBodies(graph).flatMap((body) => copiesIn(body, placed)).map(({ from, reader }) => `from the ${from} for ${reader}`);
    expect([...new Set(copies)].filter((copy) => !SIZES_COPIED_IN_A_STEP.has(copy))).toEqual([]);
  });
});

/**
 * Sizes of eight bytes, worked out in the loop's body from one that the body found itself and one from outside: such a sum is computed on
 * the device, and to read it back the host waits. Each of them is worth getting rid of.
 */
const SIZES_COPIED_IN_A_STEP: ReadonlySet<string> = new Set<string>([]);
