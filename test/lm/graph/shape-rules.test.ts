import { describe, expect, it } from 'vitest';
import { Graph, type Tensor } from '../../../backend/lm/graph/graph.ts';
import { add, cast, equal, less, negate, where } from '../../../backend/lm/graph/ops/arithmetic.ts';
import { barrier } from '../../../backend/lm/graph/ops/barrier.ts';
import { gather, gatherElements } from '../../../backend/lm/graph/ops/indexing.ts';
import { gemm, linearQuantized, matmul } from '../../../backend/lm/graph/ops/linear.ts';
import { rmsNorm, rotary, softmax } from '../../../backend/lm/graph/ops/neural.ts';
import { concat, slice, transpose } from '../../../backend/lm/graph/ops/pieces.ts';
import { argmax, cumulativeSum, largest, top } from '../../../backend/lm/graph/ops/reduction.ts';
import { expand, reshape, sum } from '../../../backend/lm/graph/ops/shape.ts';
import { broadcastShapes, type ElementType, GraphError, type Shape } from '../../../backend/lm/graph/tensor-type.ts';

/** Builds a graph of tensors of these shapes and applies what is tested. */
type Build = (g: Graph, of: (shape: Shape, element?: ElementType) => Tensor) => Tensor;

function build(how: Build): Tensor {
  const g = new Graph();
  let count = 0;
  return how(g, (shape, element = 'float32') => g.input(`x${(count += 1)}`, element, shape));
}

describe('shapes that fit give', () => {
  it.each<[string, Build, Shape]>([
    ['stretched operands', (g, of) => add(g, of(['n', 1, 3]), of([4, 1])), ['n', 4, 3]],
    ['a named size stretched over 1', (g, of) => add(g, of([1, 2]), of(['n', 1])), ['n', 2]],
    ['a condition that stretches both', (g, of) => where(g, of(['n', 1], 'bool'), of([2]), of([])), ['n', 2]],
    ['a reduced axis kept', (g, of) => sum(g, of(['n', 2, 3]), [-1, 0], { keep: true }), [1, 2, 1]],
    ['reduced axes dropped', (g, of) => largest(g, of(['n', 2, 3]), [0, 2]), [2]],
    ['the place of the largest', (g, of) => argmax(g, of(['n', 2]), 1), ['n', 1]],
    ['the top of the last axis', (g, of) => top(g, of(['n', 5]), 2)[1], ['n', 2]],
    ['axes in another order', (g, of) => transpose(g, of(['a', 'b', 3]), [2, 0, 1]), [3, 'a', 'b']],
    ['known sizes joined', (g, of) => concat(g, [of(['n', 2]), of(['n', 3])], -1), ['n', 5]],
    ['named sizes joined under a name', (g, of) => concat(g, [of(['a', 2]), of(['b', 2])], 0, 'both'), ['both', 2]],
    ['a piece', (g, of) => slice(g, of(['n', 4]), 1, 1, 3), ['n', 3]],
    ['rows looked up', (g, of) => gather(g, of(['n', 4]), of(['a', 'b'], 'int64')), ['a', 'b', 4]],
    ['columns looked up', (g, of) => gather(g, of(['n', 4]), of([], 'int32'), 1), ['n']],
    ['elements looked up', (g, of) => gatherElements(g, of(['n', 4]), of(['n', 1], 'int64'), 1), ['n', 1]],
    ['a product', (g, of) => gemm(g, of(['n', 4]), of([3, 4]), { transposeB: true, bias: of([3]) }), ['n', 3]],
    ['a product of transposed rows', (g, of) => gemm(g, of([4, 'n']), of([4, 3]), { transposeA: true }), ['n', 3]],
    ['products in a batch', (g, of) => matmul(g, of(['b', 1, 'n', 4]), of([2, 4, 'm'])), ['b', 2, 'n', 'm']],
  ])('%s', (_, how, shape) => expect(build(how).shape).toEqual(shape));

  it('another element type only by a cast or a comparison', () => {
    expect(build((g, of) => cast(g, of(['n']), 'float16'))).toMatchObject({ element: 'float16', shape: ['n'] });
    expect(build((g, of) => less(g, of(['n', 1]), of([2])))).toMatchObject({ element: 'bool', shape: ['n', 2] });
  });
});

describe('what does not fit is refused while the graph is built', () => {
  it.each<[string, Build]>([
    ['Shapes [2] and [3] do not fit together.', (g, of) => add(g, of([2]), of([3]))],
    ['Shapes [a] and [b] do not fit together.', (g, of) => add(g, of(['a']), of(['b']))],
    ['add needs one type, not float32[2] and float16[2].', (g, of) => add(g, of([2]), of([2], 'float16'))],
    ['equal needs one type, not int64[] and int32[].', (g, of) => equal(g, of([], 'int64'), of([], 'int32'))],
    ['negate needs floating-point numbers, not int64[2].', (g, of) => negate(g, of([2], 'int64'))],
    ['softmax needs floating-point numbers, not bool[2].', (g, of) => softmax(g, of([2], 'bool'))],
    ['where needs a bool and two of one type, not float32[2], float32[2], float32[2].', (g, of) => where(g, of([2]), of([2]), of([2]))],
    ['float32[2, 3] cannot be reshaped to [5].', (g, of) => reshape(g, of([2, 3]), [5])],
    ['float32[2, 3] does not stretch to [2, 1].', (g, of) => expand(g, of([2, 3]), [2, 1])],
    ['Axis 2 is outside a tensor of rank 2.', (g, of) => sum(g, of([2, 3]), [2])],
    ['Axis -3 is outside a tensor of rank 2.', (g, of) => largest(g, of([2, 3]), [-3])],
    ['Axis 1 is outside a tensor of rank 1.', (g, of) => cumulativeSum(g, of([2]), 1)],
    ['Axis 0.5 is outside a tensor of rank 1.', (g, of) => cumulativeSum(g, of([2]), 0.5)],
    ['float32[n, 2] has no 3 elements along its last axis.', (g, of) => top(g, of(['n', 2]), 3)[0]],
    ['[0, 0] is no order of the axes of float32[2, 3].', (g, of) => transpose(g, of([2, 3]), [0, 0])],
    ['[1, 1] is no order of the axes of float32[2, 3].', (g, of) => transpose(g, of([2, 3]), [1, -1])],
    ['[0] is no order of the axes of float32[2, 3].', (g, of) => transpose(g, of([2, 3]), [0])],
    ['concat needs at least one tensor.', (g) => concat(g, [], 0)],
    ['float32[2] cannot be joined to float32[2, 3] along axis 1.', (g, of) => concat(g, [of([2, 3]), of([2])], 1)],
    ['float32[3, 2] cannot be joined to float32[2, 3] along axis 0.', (g, of) => concat(g, [of([2, 3]), of([3, 2])], 0)],
    ['2 elements from 3 on are not in float32[4] along axis 0.', (g, of) => slice(g, of([4]), 0, 3, 2)],
    ['1 elements from -1 on are not in float32[4] along axis -1.', (g, of) => slice(g, of([4]), -1, -1, 1)],
    ['float32[4] has no 5 elements along axis 0.', (g, of) => slice(g, of([4]), 0, of([1], 'int64'), 5)],
    ['gather needs whole numbers as indices, not float32[2].', (g, of) => gather(g, of([4]), of([2]))],
    ['int64[2] cannot index float32[2, 3] by element.', (g, of) => gatherElements(g, of([2, 3]), of([2], 'int64'), 1)],
    ['float32[2, 3] and float32[2, 3] cannot be multiplied.', (g, of) => gemm(g, of([2, 3]), of([2, 3]))],
    ['float32[2, 3] and float16[3, 2] cannot be multiplied.', (g, of) => matmul(g, of([2, 3]), of([3, 2], 'float16'))],
    ['float32[2, n] and float32[m, 2] cannot be multiplied.', (g, of) => matmul(g, of([2, 'n']), of(['m', 2]))],
    ['float32[5, 2, 4] is no bias for float32[2, 4].', (g, of) => gemm(g, of([2, 3]), of([3, 4]), { bias: of([5, 2, 4]) })],
    ['float32[3] is no weight for the last axis of float32[2, 4].', (g, of) => rmsNorm(g, of([2, 4]), of([3]), 1e-6)],
    ['rmsNorm needs the size of the last axis of float32[2, n].', (g, of) => rmsNorm(g, of([2, 'n']), of(['n']), 1e-6)],
    ['rotary needs [batch, heads, sequence, size], not float32[2, 4].', (g, of) => rotary(g, of([2, 4]), of([2, 1], 'int64'), of([3, 2]), of([3, 2]))],
    ['barrier needs an axis; float32[] has none.', (g, of) => barrier(g, of([]), of([2]))],
    ['float32[2, 32], uint8[4, 1, 16], float32[8] are not numbers, blocks and scales for a weight [4, 32] in 4 bits.', (g, of) =>
      linearQuantized(g, of([2, 32]), { blocks: of([4, 1, 16], 'uint8'), scales: of([8]) }, { rows: 4, columns: 32, bits: 4, blockSize: 32, accuracyLevel: 0 })],
    ['uint8[4, 2] are not numbers, blocks, scales and zero points for a weight [4, 32] in 4 bits.', (g, of) => {
      const weight = { blocks: of([4, 1, 16], 'uint8'), scales: of([4]), zeroPoints: of([4, 2], 'uint8') };
      return linearQuantized(g, of([2, 32]), weight, { rows: 4, columns: 32, bits: 4, blockSize: 32, accuracyLevel: 0 });
    }],
  ])('%s', (sentence, how) => {
    let error: unknown;
    try {
      build(how);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(GraphError);
    expect((error as GraphError).message).toContain(sentence);
  });
});

describe('broadcasting', () => {
  it('does not depend on the order of the operands', () => {
    expect(broadcastShapes([2, 1], [3])).toEqual(broadcastShapes([3], [2, 1]));
    expect(broadcastShapes([], ['n', 1])).toEqual(['n', 1]);
  });
});
