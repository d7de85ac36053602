import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { encodeModel } from '../../../backend/lm/graph/encode-model.ts';
import { type FileRange, Graph } from '../../../backend/lm/graph/graph.ts';
import { add, cast, negate } from '../../../backend/lm/graph/ops/arithmetic.ts';
import { branch } from '../../../backend/lm/graph/ops/control.ts';
import { gather } from '../../../backend/lm/graph/ops/indexing.ts';
import { linear } from '../../../backend/lm/graph/ops/linear.ts';
import { float32s, int64s } from '../../../backend/lm/graph/session.ts';
import type { ElementType } from '../../../backend/lm/graph/tensor-type.ts';
import { numbersOf } from './evaluate.ts';

/* What is encoded is read back by onnxruntime. */

/** A constant as onnxruntime reads it, in float64, which holds what all other types hold (and float64 in float32). */
async function readBack(element: ElementType, values: readonly number[]): Promise<number[]> {
  const g = new Graph();
  return await numbersOf(g, cast(g, g.constant(element, [values.length], values), element === 'float64' ? 'float32' : 'float64'));
}

describe('a constant', () => {
  it.each<[ElementType, number[]]>([
    ['float32', [0, -1.5, Math.fround(3.4e38), 2 ** -149, Math.fround(0.1), Infinity, -Infinity]],
    ['float64', [0, -1.5, 2 ** 100, Math.fround(0.1)]],
    ['float16', [0, -1.5, 65504, 2 ** -24, 2 ** -14, Infinity]],
    ['bfloat16', [0, -1.5, 2 ** 127, 2 ** -126, 1.0078125, -Infinity]],
    ['int32', [0, -1, 2 ** 31 - 1, -(2 ** 31)]],
    ['int64', [0, -1, 2 ** 52, -(2 ** 52)]],
    ['uint8', [0, 1, 128, 255]],
    ['bool', [0, 1]],
  ])('of %s comes back as it was', async (element, values) => {
    expect(await readBack(element, values)).toEqual(values);
  });

  it('that float16 or bfloat16 cannot hold becomes the nearest that they can, of two the even', async () => {
    const nearOne = (bits: number): number[] => [1 + 2 ** -bits, 1 + 3 * 2 ** -bits, 1 + 2 ** -bits + 2 ** -20];
    expect(await readBack('float16', nearOne(11))).toEqual([1, 1 + 2 ** -9, 1 + 2 ** -10]);
    expect(await readBack('float16', [65519, 65520, 2 ** -25, 2 ** -25 + 2 ** -30])).toEqual([65504, Infinity, 0, 2 ** -24]);
    expect(await readBack('bfloat16', nearOne(8))).toEqual([1, 1 + 2 ** -6, 1 + 2 ** -7]);
    expect(await readBack('bfloat16', [3.4e38])).toEqual([Infinity]);
  });

  it('that is not a number stays so', async () => {
    for (const element of ['float32', 'float16', 'bfloat16'] as const) expect(await readBack(element, [NaN])).toEqual([NaN]);
  });

  it('is written once a graph, and used in bodies from there', async () => {
    const g = new Graph();
    const one = g.scalar('float32', 1);
    expect(await numbersOf(g, add(g, one, add(g, one, one)))).toEqual([3]);
  });
});

describe('a weight', () => {
  /** Fills a file with bytes before and behind each part, and gives where the parts lie. */
  async function withFile(parts: readonly Uint8Array[], use: (ranges: readonly FileRange[]) => Promise<void>): Promise<void> {
    const folder = await mkdtemp(path.join(tmpdir(), 'conductor-weights-'));
    try {
      const file = path.join(folder, 'weights with a space.safetensors');
      const padding = new Uint8Array(24).fill(0xff);
      let offset = 0;
      const ranges = parts.map(({ byteLength }) => {
        offset += padding.byteLength;
        const range = { file, offset, byteLength };
        offset += byteLength;
        return range;
      });
      await writeFile(file, Buffer.concat([...parts.flatMap((part) => [padding, part]), padding]));
      await use(ranges);
    } finally {
      await rm(folder, { recursive: true });
    }
  }

  it('is read from its range of the file, wherever that begins', async () => {
    const numbers = [[1, 2, 3, 4, 5, 6], [10, 20]];
    await withFile(numbers.map((values) => new Uint8Array(Float32Array.from(values).buffer)), async ([weightRange, biasRange]) => {
      const g = new Graph();
      const x = g.input('x', 'float32', ['n', 3]);
      const weight = g.weight('layer.weight', 'float32', [2, 3], weightRange!);
      const bias = g.weight('layer.bias', 'float32', [2], biasRange!);
      expect(await numbersOf(g, linear(g, x, weight, bias), { x: float32s([1, 3], [1, 1, 1]) })).toEqual([16, 35]);
    });
  });

  it('in bfloat16 and float16 is read as the file has it', async () => {
    const parts = [Uint16Array.of(0x3f80, 0xc000), Uint16Array.of(0x3c00, 0xc000)].map((codes) => new Uint8Array(codes.buffer));
    await withFile(parts, async (ranges) => {
      const g = new Graph();
      for (const [index, element] of (['bfloat16', 'float16'] as const).entries()) {
        const weight = g.weight(element, element, [2], ranges[index]!);
        expect(await numbersOf(g, cast(g, weight, 'float32'))).toEqual([1, -2]);
      }
    });
  });

  it('that lies beyond the end of its file is refused when the session opens', async () => {
    await withFile([new Uint8Array(16)], async ([range]) => {
      const g = new Graph();
      const weight = g.weight('w', 'float32', [4], { ...range!, offset: range!.offset + 32 });
      await expect(numbersOf(g, gather(g, weight, g.input('i', 'int64', [1])), { i: int64s([1], [0]) })).rejects.toThrow(/out of bounds/);
    });
  });

  it('needs sizes that are known', () => {
    const g = new Graph();
    const weight = g.weight('w', 'float32', ['n'], { file: '/w', offset: 0, byteLength: 4 });
    expect(() => encodeModel(g, { y: add(g, weight, weight) })).toThrow("'w' cannot be stored: its size 'n' is not known.");
  });
});

describe('an output', () => {
  it('must be computed, and be one output only', () => {
    const g = new Graph();
    const x = g.input('x', 'float32', []);
    expect(() => encodeModel(g, { x })).toThrow("The output 'x' is not computed.");
    const y = add(g, x, x);
    expect(() => encodeModel(g, { y, z: y })).toThrow("A tensor cannot be two outputs ('z' is the second).");
    expect(() => encodeModel(g, { x: y })).toThrow("Two tensors of the model are named 'x'.");
  });
});

describe('the nodes that belong on the host', () => {
  it('are those that were built there, those in their bodies too, and no sizes', () => {
    const g = new Graph();
    const x = g.input('x', 'float32', ['n']);
    const wanted = g.input('wanted', 'bool', []);
    const twice = add(g, x, x);
    const [either] = g.onHost(() => branch(g, wanted, (b) => [negate(b, twice)], () => [twice]));
    const size = cast(g, g.onHost(() => cast(g, g.size('n'), 'int32')), 'float32');
    const onHost: string[] = [];
    encodeModel(g, { y: add(g, either!, size) }, (name) => onHost.push(name.replace(/_\d+$/, '')));
    expect(onHost.sort()).toEqual(['branch', 'cast', 'negate']);
  });
});
