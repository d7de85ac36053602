import { describe, expect, it } from 'vitest';
import { encodeModel } from '../../../backend/lm/graph/encode-model.ts';
import { gradients } from '../../../backend/lm/graph/gradients.ts';
import { Graph } from '../../../backend/lm/graph/graph.ts';
import { add, exponential, multiply, negate } from '../../../backend/lm/graph/ops/arithmetic.ts';
import { branch, loop } from '../../../backend/lm/graph/ops/control.ts';
import { gather, range } from '../../../backend/lm/graph/ops/indexing.ts';
import { concat, slice, transpose } from '../../../backend/lm/graph/ops/pieces.ts';
import { expand, reshape, sum } from '../../../backend/lm/graph/ops/shape.ts';
import { bools, float32s, int64s } from '../../../backend/lm/graph/session.ts';
import { GraphError } from '../../../backend/lm/graph/tensor-type.ts';
import { evaluate, numbersOf } from './evaluate.ts';
import { readModel } from './read-onnx.ts';

describe('a graph', () => {
  it('refuses a tensor of another graph, and of a body beside it', () => {
    const g = new Graph();
    const x = g.input('x', 'float32', [2]);
    expect(() => negate(new Graph(), x)).toThrow('negate was given a tensor of another graph.');
    const inside = negate(new Graph(g), x);
    expect(() => negate(g, inside)).toThrow(GraphError);
    expect(() => negate(new Graph(g), inside)).toThrow(GraphError);
  });

  it('lets a body see the tensors of every graph around it', () => {
    const g = new Graph();
    const body = new Graph(new Graph(g));
    expect(add(body, g.input('x', 'float32', []), body.scalar('float32', 1)).scope).toBe(body);
  });

  it('refuses values that do not fill a constant', () => {
    expect(() => new Graph().constant('float32', [2, 3], [1, 2, 3])).toThrow('3 values do not fill [2, 3].');
    expect(() => new Graph().constant('float32', ['n'], [1])).toThrow(GraphError);
  });

  it('finds a size by its name in inputs and in what was computed, once', async () => {
    const g = new Graph();
    const x = g.input('x', 'float32', [3, 'rows']);
    const many = gather(g, x, g.input('indices', 'int64', ['picks']));
    const before = g.operations.length;
    const [rows, picks] = [g.size('rows'), g.size('picks')];
    expect(g.size('rows')).toBe(rows);
    expect(new Graph(g).size('picks')).toBe(picks);
    expect(g.operations.length).toBe(before + 2);
    const feeds = { x: float32s([3, 4], new Array(12).fill(0)), indices: int64s([2], [0, 2]) };
    expect(await numbersOf(g, concat(g, [rows, picks], 0), feeds)).toEqual([4, 2]);
    expect(many.shape).toEqual(['picks', 'rows']);
  });

  it('finds in a body a size that only the body has, and says when nothing has it', () => {
    const g = new Graph();
    const body = new Graph(g);
    body.input('x', 'float32', ['inner']);
    expect(body.size('inner').scope).toBe(body);
    expect(() => g.size('inner')).toThrow("No tensor in reach has a size named 'inner'.");
  });

  it('works out the one size of a reshape that nothing has yet, and no second one', async () => {
    const g = new Graph();
    const x = g.input('x', 'float32', ['rows', 6]);
    const halves = reshape(g, x, ['halves', 3]);
    expect(await numbersOf(g, g.size('halves'), { x: float32s([2, 6], new Array(12).fill(0)) })).toEqual([4]);
    expect(() => reshape(g, x, ['a', 'b'])).toThrow('Of [a, b] more than one size is unknown.');
    expect(() => expand(g, g.scalar('float32', 1), ['unheard of'])).toThrow("No tensor in reach has a size named 'unheard of'.");
    expect(halves.shape).toEqual(['halves', 3]);
  });

  it('builds what operations share once, in the outermost graph that can', () => {
    const g = new Graph();
    const x = g.input('x', 'float32', ['rows', 'columns']);
    const flat = (b: Graph): number => {
      const before = g.operations.length;
      reshape(b, x, ['columns', 'rows']);
      return g.operations.length - before;
    };
    expect(flat(new Graph(g))).toBe(3);
    expect(flat(new Graph(g))).toBe(0);
  });

  it('adds nothing where nothing changes', () => {
    const g = new Graph();
    const x = g.input('x', 'float32', ['rows', 2]);
    expect([reshape(g, x, ['rows', 2]), expand(g, x, ['rows', 2]), transpose(g, x, [0, 1]), sum(g, x, [])]).toEqual([x, x, x, x]);
    expect(g.operations).toEqual([]);
  });
});

describe('a loop', () => {
  it('carries state, stacks what is kept, and ends when it wants to or at its limit', async () => {
    const g = new Graph();
    const limit = g.input('limit', 'int64', []);
    const { state, kept } = loop(g, { limit, state: [g.scalar('float32', 1)], steps: 'steps' }, (b, iteration, [power]) => {
      const doubled = add(b, power!, power!);
      return { goOn: lessThanFour(b, iteration), state: [doubled], kept: [power!, iteration] };
    });
    const outputs = { power: state[0]!, powers: kept[0]!, iterations: kept[1]!, steps: g.size('steps') };
    const results = async (most: number) => {
      const { power, powers, iterations, steps } = await evaluate(g, outputs, { limit: int64s([], [most]) });
      return [power.data[0], [...powers.data], [...iterations.data].map(Number), Number(steps.data[0])];
    };
    expect(await results(3)).toEqual([8, [1, 2, 4], [0, 1, 2], 3]);
    expect(await results(100)).toEqual([32, [1, 2, 4, 8, 16], [0, 1, 2, 3, 4], 5]);
    expect(await results(0)).toEqual([1, [], [], 0]);
    expect(outputs.powers.shape).toEqual(['steps']);
  });

  it('takes tensors around it, and gives on state and tensors that its body does not touch', async () => {
    const g = new Graph();
    const x = g.input('x', 'float32', ['n']);
    const { state, kept } = loop(g, { limit: g.scalar('int64', 2), state: [x, x], steps: 'steps' }, (b, _, [first, second]) => ({
      goOn: b.constant('bool', [], [1]), state: [second!, first!], kept: [x, x, multiply(b, first!, x)],
    }));
    const [a, b, c, d, e] = [...state, ...kept] as const;
    const results = await evaluate(g, { a: a!, b: b!, c: c!, d: d!, e: e! }, { x: float32s([2], [3, 4]) });
    expect(Object.values(results).map(({ data }) => [...data])).toEqual([[3, 4], [3, 4], [3, 4, 3, 4], [3, 4, 3, 4], [9, 16, 9, 16]]);
    expect(c!.shape).toEqual(['steps', 'n']);
  });

  it('carries state that grows, where its changing size has a name', async () => {
    const g = new Graph();
    const around = { limit: g.scalar('int64', 3), state: [g.input('x', 'float32', ['n'])], steps: 'steps', shapes: { 0: ['held'] } };
    const { state } = loop(g, around, (b, _, [held]) => ({
      goOn: b.constant('bool', [], [1]), state: [concat(b, [held!, held!], 0, 'longer')], kept: [],
    }));
    expect(await numbersOf(g, state[0]!, { x: float32s([1], [5]) })).toEqual(new Array(8).fill(5));
    const flat = (b: Graph) => ({ goOn: b.constant('bool', [], [1]), state: [b.scalar('float32', 0)], kept: [] });
    expect(() => loop(g, around, flat)).toThrow('State 0 of a loop begins as float32[n] and goes on as float32[].');
  });

  it('refuses state that changes its type or its number, and tensors from elsewhere', () => {
    const g = new Graph();
    const x = g.input('x', 'float32', [2]);
    const around = { limit: g.scalar('int64', 2), state: [x], steps: 'steps' };
    const goOn = (b: Graph) => b.constant('bool', [], [1]);
    expect(() => loop(g, around, (b) => ({ goOn: goOn(b), state: [b.constant('float32', [3], [1, 2, 3])], kept: [] })))
      .toThrow('State 0 of a loop begins as float32[2] and goes on as float32[3].');
    expect(() => loop(g, around, (b) => ({ goOn: goOn(b), state: [], kept: [x] })))
      .toThrow('A loop begins with 1 tensors of state and goes on with 0.');
    expect(() => loop(g, around, (b) => ({ goOn: b.scalar('int64', 1), state: [x], kept: [] })))
      .toThrow('Whether a loop goes on is bool[], not int64[].');
    expect(() => loop(g, { ...around, limit: x }, (b) => ({ goOn: goOn(b), state: [x], kept: [] })))
      .toThrow('The limit of a loop is int64[], not float32[2].');
    expect(() => loop(g, around, (b) => ({ goOn: goOn(b), state: [x], kept: [new Graph().scalar('float32', 1)] })))
      .toThrow('A body must return tensors that its graph can see.');
  });
});

const lessThanFour = (b: Graph, iteration: ReturnType<Graph['scalar']>) => {
  const few = b.constant('bool', [5], [1, 1, 1, 1, 0]);
  return gather(b, few, iteration);
};

describe('a branch', () => {
  it('computes the side that is chosen, from tensors around it or none', async () => {
    const g = new Graph();
    const [x, isThen] = [g.input('x', 'float32', [2]), g.input('isThen', 'bool', [])];
    const [y, z] = branch(g, isThen, (b) => [negate(b, x), x], (b) => [x, exponential(b, b.constant('float32', [2], [0, 0]))]);
    const results = async (choice: 0 | 1) => {
      const feeds = { x: float32s([2], [1, 2]), isThen: bools([], [choice]) };
      return Object.values(await evaluate(g, { y: y!, z: z! }, feeds)).map(({ data }) => [...data]);
    };
    expect(await results(1)).toEqual([[-1, -2], [1, 2]]);
    expect(await results(0)).toEqual([[1, 2], [1, 1]]);
  });

  it('refuses sides of different types and a condition that is none', () => {
    const g = new Graph();
    const [x, condition] = [g.input('x', 'float32', [2]), g.input('c', 'bool', [])];
    expect(() => branch(g, condition, () => [x, x], () => [x]))
      .toThrow('Both sides of a branch must give the same, not [float32 of rank 1, float32 of rank 1] and [float32 of rank 1].');
    expect(() => branch(g, condition, () => [], () => [x])).toThrow(GraphError);
    expect(() => branch(g, condition, (b) => [b.scalar('float32', 0)], () => [x])).toThrow(GraphError);
    expect(() => branch(g, x, () => [x], () => [x])).toThrow('The condition of a branch is bool[], not float32[2].');
  });

  it('has the sizes that its sides have in common, and a new name for each other', async () => {
    const g = new Graph();
    const [x, y] = [g.input('x', 'float32', ['n', 2, 'm']), g.input('y', 'float32', ['n', 3, 'k'])];
    const [either, again] = branch(g, g.input('c', 'bool', []), () => [x, x], () => [y, x]);
    const [n, second, third] = either!.shape;
    expect(n).toBe('n');
    expect(new Set([second, third, 2, 3, 'm', 'k']).size).toBe(6);
    expect(again!.shape).toEqual(x.shape);
    const feeds = { x: float32s([1, 2, 1], [1, 2]), y: float32s([1, 3, 2], [1, 2, 3, 4, 5, 6]), c: bools([], [0]) };
    expect(await numbersOf(g, g.size(third as string), feeds)).toEqual([2]);
  });

  it('stretches to a size that is only known inside it', async () => {
    const g = new Graph();
    const x = g.input('x', 'float32', ['rows', 'columns']);
    const [stretched] = branch(
      g,
      g.input('condition', 'bool', []),
      (b) => {
        const flat = reshape(b, x, ['elements']);
        return [add(b, expand(b, b.scalar('float32', 1), [2, 'elements']), flat)];
      },
      (b) => [b.constant('float32', [0, 0], [])],
    );
    const feeds = { x: float32s([1, 3], [1, 2, 3]), condition: bools([], [1]) };
    expect(await numbersOf(g, stretched!, feeds)).toEqual([2, 3, 4, 2, 3, 4]);
  });

  it('stays in bodies within bodies', async () => {
    const g = new Graph();
    const x = g.input('x', 'float32', ['n']);
    const { kept } = loop(g, { limit: g.scalar('int64', 2), state: [], steps: 'steps' }, (b, iteration) => {
      const places = range(b, 'n');
      const isSecond = gather(b, b.constant('bool', [2], [0, 1]), iteration);
      const [y] = branch(b, isSecond, (inner) => [negate(inner, x)], (inner) => [gather(inner, x, places)]);
      return { goOn: b.constant('bool', [], [1]), state: [], kept: [y!] };
    });
    expect(await numbersOf(g, kept[0]!, { x: float32s([3], [1, 2, 3]) })).toEqual([1, 2, 3, -1, -2, -3]);
  });
});

describe('a new size', () => {
  it('has a name that no other size of the model has, in bodies too', () => {
    const g = new Graph();
    const body = new Graph(g);
    expect(new Set([g.newSize('n'), body.newSize('n'), new Graph(body).newSize('n'), g.newSize('m')]).size).toBe(4);
  });

  it("gives each slice's gradient size names of its own", async () => {
    // Two sizes of one name would let onnxruntime put one in the place of the other.
    const g = new Graph();
    const x = g.input('x', 'float32', ['n', 2]);
    const pieces = [1, 2, 3].map((from) => slice(g, x, 0, from, 4 - from));
    const losses = pieces.map((piece) => sum(g, multiply(g, piece, piece), [0, 1]));
    const [ofX] = gradients(g, losses.reduce((a, b) => add(g, a, b)), [x]);
    const feeds = { x: float32s([5, 2], Array.from({ length: 10 }, (_, index) => index)) };
    expect(await numbersOf(g, ofX!, feeds)).toEqual([0, 0, 4, 6, 16, 20, 36, 42, 0, 0]);
  });
});

describe('an encoded model', () => {
  it('leaves out what no output needs, in bodies too, and keeps its inputs', () => {
    const g = new Graph();
    const [x, unused] = [g.input('x', 'float32', ['n']), g.input('unused', 'float32', [])];
    exponential(g, add(g, x, unused));
    const needed = negate(g, x);
    const { kept } = loop(g, { limit: g.scalar('int64', 2), state: [], steps: 'steps' }, (b) => {
      exponential(b, x);
      return { goOn: b.constant('bool', [], [1]), state: [], kept: [add(b, needed, x)] };
    });
    const model = readModel(encodeModel(g, { y: slice(g, kept[0]!, 0, 0, 1) }));
    expect(model.nodes.map(({ type }) => type)).toEqual(['Neg', 'Loop', 'Slice']);
    expect(model.nodes[1]!.bodies.map(({ nodes }) => nodes.map(({ type }) => type))).toEqual([['Add', 'Identity']]);
    expect(model.inputs).toEqual(['x', 'unused']);
    expect(model.outputs).toEqual(['y']);
  });

  it('has the shapes of all that is computed on the way, in bodies too', () => {
    const g = new Graph();
    const x = g.input('x', 'float32', ['n']);
    const { kept } = loop(g, { limit: g.scalar('int64', 2), state: [], steps: 'steps' }, (b) => (
      { goOn: b.constant('bool', [], [1]), state: [], kept: [add(b, exponential(b, x), x)] }
    ));
    const model = readModel(encodeModel(g, { y: negate(g, kept[0]!) }));
    const [looped] = model.nodes;
    expect(model.between).toEqual(looped!.outputs);
    // The sum leaves the body, so that its shape stands there.
    for (const { nodes, between } of looped!.bodies) expect(between).toEqual(nodes.find(({ type }) => type === 'Exp')!.outputs);
  });

  it('names every tensor once, whatever the names of weights and inputs', () => {
    const g = new Graph();
    const x = g.input('add_1', 'float32', []);
    const model = readModel(encodeModel(g, { add_2: negate(g, add(g, x, add(g, x, x))) }));
    const made = [...model.inputs, ...model.initializers, ...model.nodes.flatMap(({ outputs }) => outputs)];
    expect(new Set(made).size).toBe(made.length);
    const twice = new Graph();
    expect(() => encodeModel(twice, { y: add(twice, twice.input('x', 'float32', []), twice.input('x', 'float32', [])) }))
      .toThrow("Two tensors of the model are named 'x'.");
  });
});
