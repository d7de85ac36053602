import { Graph, type Tensor } from '../../../backend/lm/graph/graph.ts';
import { cast, multiply, where } from '../../../backend/lm/graph/ops/arithmetic.ts';
import { loop } from '../../../backend/lm/graph/ops/control.ts';
import { gatherElements } from '../../../backend/lm/graph/ops/indexing.ts';
import { gemm, linearQuantized, matmul } from '../../../backend/lm/graph/ops/linear.ts';
import { groupedQueryAttention, logSoftmax, rmsNorm, rotary, softmax } from '../../../backend/lm/graph/ops/neural.ts';
import { argmax, cumulativeSum, largest, top } from '../../../backend/lm/graph/ops/reduction.ts';
import { reshape, sum } from '../../../backend/lm/graph/ops/shape.ts';
import { type Feeds, float32s, int64s, Session } from '../../../backend/lm/graph/session.ts';
import type { ComputeType } from '../../../backend/lm/device/devices.ts';
import { randomNumbers } from '../decode/random.ts';

/*
 * The operators of a generation one by one, each in a session of its own, on the device and in float32 on the CPU. What one of them needs
 * (cuDNN, say) or gets wrong is then known by its name.
 */

export interface OperatorResult {
  readonly operator: string;
  readonly compute: ComputeType;
  /** The largest difference to the CPU, of values of about 1; absent where it failed. */
  readonly worst?: number;
  readonly failure?: string;
}

interface Probe {
  readonly compute: readonly ComputeType[];
  /** Of inputs float32[rows, columns], uniform in ±1: what to compute, in a type. */
  readonly build: (g: Graph, x: Tensor, compute: ComputeType) => Tensor;
  readonly rows: number;
  readonly columns: number;
}

const VOCABULARY = 151_936;
const HALF: readonly ComputeType[] = ['float16', 'bfloat16'];
const EVERY: readonly ComputeType[] = ['float32', ...HALF];
const FLOAT32: readonly ComputeType[] = ['float32'];

const PROBES: Readonly<Record<string, Probe>> = {
  'Softmax, a cache of 600': probe(EVERY, [4, 600], (g, x) => softmax(g, x)),
  'Softmax, the vocabulary': probe(FLOAT32, [2, VOCABULARY], (g, x) => multiply(g, softmax(g, x), g.scalar('float32', VOCABULARY))),
  'LogSoftmax, the vocabulary': probe(FLOAT32, [2, VOCABULARY], (g, x) => logSoftmax(g, x)),
  'ArgMax, the vocabulary': probe(FLOAT32, [2, VOCABULARY], (g, x) => gatherElements(g, x, argmax(g, x, -1), 1)),
  'TopK, 1024 of the vocabulary': probe(FLOAT32, [2, VOCABULARY], (g, x) => top(g, x, 1024)[0]),
  'ReduceMax': probe(FLOAT32, [2, 400], (g, x) => largest(g, x, [1], { keep: true })),
  'ReduceSum': probe(FLOAT32, [2, 400], (g, x) => sum(g, x, [1], { keep: true })),
  'ReduceSum of int64': probe(FLOAT32, [2, 400], (g, x) => cast(g, sum(g, cast(g, multiply(g, x, g.scalar('float32', 9)), 'int64'), [1]), 'float32')),
  'CumSum': probe(FLOAT32, [2, 400], (g, x) => cumulativeSum(g, x, 1)),
  'Where': probe(EVERY, [2, 400], (g, x, compute) => where(g, everySecond(g, 400), x, g.scalar(compute, 0))),
  'Gemm with a bias': probe(EVERY, [3, 64], (g, x, compute) =>
    gemm(g, x, matrix(g, compute, 32, 64), { transposeB: true, bias: vector(g, compute, 32) })),
  'Gemm over nothing (no adapter)': probe(EVERY, [3, 64], (g, x, compute) =>
    gemm(g, gemm(g, x, empty(g, [0, 64], compute), { transposeB: true, scale: 2 }), empty(g, [64, 0], compute), { transposeB: true, scale: 0.5, bias: x })),
  'MatMul in batches': probe(EVERY, [8, 8], (g, x, compute) => matmul(g, reshape(g, x, [4, 2, 8]), reshape(g, matrix(g, compute, 32, 8), [4, 8, 8]))),
  'SimplifiedLayerNormalization': probe(EVERY, [3, 64], (g, x, compute) => rmsNorm(g, x, vector(g, compute, 64), 1e-6)),
  'RotaryEmbedding': probe(EVERY, [4, 64], rotated),
  'GroupQueryAttention': probe(HALF, [5, 128], attended),
  'MatMulNBits, a row': probe(EVERY, [1, 64], quantized),
  'MatMulNBits, many rows': probe(EVERY, [33, 64], quantized),
  'Loop': probe(EVERY, [2, 8], looped),
};

function probe(compute: readonly ComputeType[], [rows, columns]: readonly [number, number], build: Probe['build']): Probe {
  return { compute, rows, columns, build };
}

/** Runs every probe on `device`. */
export async function tryOperators(device: 'cpu' | 'cuda'): Promise<OperatorResult[]> {
  const results: OperatorResult[] = [];
  for (const [operator, probe] of Object.entries(PROBES)) {
    for (const compute of probe.compute) {
      // Half precision is there to be compared with, not to be had, on a CPU.
      if (device === 'cpu' && compute !== 'float32') continue;
      try {
        const [ours, right] = [await outputOf(probe, compute, device), await outputOf(probe, 'float32', 'cpu')];
        results.push({ operator, compute, worst: ours.reduce((worst, value, at) => larger(worst, Math.abs(value - (right[at] as number))), 0) });
      } catch (error) {
        results.push({ operator, compute, failure: String(error).replaceAll(/\s+/g, ' ').slice(0, 300) });
      }
    }
  }
  return results;
}

/** NaN is larger than everything. */
const larger = (a: number, b: number): number => (b <= a ? a : b);

async function outputOf({ rows, columns, build }: Probe, compute: ComputeType, device: 'cpu' | 'cuda'): Promise<number[]> {
  const graph = new Graph();
  const x = graph.input('x', 'float32', [rows, columns]);
  // An input, so that nothing is computed while the session is made.
  graph.input('sizes', 'int64', ['none']);
  const y = cast(graph, build(graph, cast(graph, x, compute), compute), 'float32');
  const output = y.origin.kind === 'operation' ? y : multiply(graph, y, graph.scalar('float32', 1));
  const session = await Session.open(graph, { y: output }, { device });
  try {
    const feeds: Feeds = { x: float32s([rows, columns], values(rows * columns)), sizes: int64s([0], []) };
    return Array.from((await session.run(feeds, ['y'])).y.data, Number);
  } finally {
    await session.close();
  }
}

function values(count: number): number[] {
  const random = randomNumbers(count);
  return Array.from({ length: count }, () => 2 * random() - 1);
}

const matrix = (g: Graph, compute: ComputeType, rows: number, columns: number): Tensor =>
  cast(g, g.constant('float32', [rows, columns], values(rows * columns).map((value) => value / Math.sqrt(columns))), compute);

const vector = (g: Graph, compute: ComputeType, size: number): Tensor => cast(g, g.constant('float32', [size], values(size)), compute);

const everySecond = (g: Graph, size: number): Tensor => g.constant('bool', [size], Array.from({ length: size }, (_, at) => at % 2));

const empty = (g: Graph, shape: readonly number[], compute: ComputeType): Tensor => cast(g, g.constant('float32', shape, []), compute);

function tables(g: Graph, compute: ComputeType, positions: number, half: number) {
  const angles = Array.from({ length: positions * half }, (_, i) => Math.floor(i / half) / 10 ** ((i % half) / half));
  return {
    cosine: g.constant(compute, [positions, half], angles.map(Math.cos)),
    sine: g.constant(compute, [positions, half], angles.map(Math.sin)),
  };
}

function rotated(g: Graph, x: Tensor, compute: ComputeType): Tensor {
  const { cosine, sine } = tables(g, compute, 16, 16);
  const heads = reshape(g, x, [1, 2, 4, 32]);
  return reshape(g, rotary(g, heads, g.constant('int64', [1, 4], [0, 1, 2, 3]), cosine, sine), [8, 32]);
}

function attended(g: Graph, x: Tensor, compute: ComputeType): Tensor {
  const query = reshape(g, x, [1, 5, 128]);
  const side = reshape(g, gemm(g, x, matrix(g, compute, 64, 128), { transposeB: true }), [1, 5, 64]);
  const { output } = groupedQueryAttention(
    g, { query, key: side, value: side },
    { lastIndex: g.constant('int32', [1], [4]), total: g.scalar('int32', 5), ...tables(g, compute, 16, 16) },
    { heads: 4, keyValueHeads: 2, batch: 1, length: 5 },
  );
  return reshape(g, output, [5, 128]);
}

function quantized(g: Graph, x: Tensor, compute: ComputeType): Tensor {
  const [rows, columns, blockSize] = [64, 64, 32];
  const blocks = g.constant('uint8', [rows, 2, 16], Array.from({ length: rows * 32 }, (_, i) => (i * 37) % 256));
  const scales = cast(g, g.constant('float32', [rows * 2], values(rows * 2).map((value) => value / 50)), compute);
  const zeroPoints = g.constant('uint8', [rows, 1], Array.from({ length: rows }, (_, i) => (i * 29) % 256));
  return linearQuantized(g, x, { blocks, scales, zeroPoints }, { rows, columns, bits: 4, blockSize, accuracyLevel: 0 });
}

/** Halves a state three times. */
function looped(g: Graph, x: Tensor, compute: ComputeType): Tensor {
  const { state } = loop(g, { limit: g.scalar('int64', 3), state: [x], steps: 'steps' }, (body, _, [now]) => ({
    goOn: body.constant('bool', [], [1]),
    state: [multiply(body, now as Tensor, body.scalar(compute, 0.5))],
    kept: [],
  }));
  return state[0] as Tensor;
}
