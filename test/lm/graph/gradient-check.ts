import { expect } from 'vitest';
import { gradients } from '../../../backend/lm/graph/gradients.ts';
import { Graph, type Tensor } from '../../../backend/lm/graph/graph.ts';
import { add, multiply } from '../../../backend/lm/graph/ops/arithmetic.ts';
import { sum } from '../../../backend/lm/graph/ops/shape.ts';
import { type Feeds, Session, type TypedArray, type Values } from '../../../backend/lm/graph/session.ts';
import type { Dimension, ElementType, Shape } from '../../../backend/lm/graph/tensor-type.ts';

/** Numbers in [0, 1) that a seed determines (Tommy Ettinger's mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** How gradients are compared with central differences (f(x + step) − f(x − step)) / (2 · step). */
interface Precision {
  readonly element: 'float64' | 'float32';
  readonly step: number;
  readonly tolerance: number;
}

/** The truncation error is about step² and the rounding error 1e-16 / step: both far below the tolerance. */
const EXACT: Precision = { element: 'float64', step: 1e-5, tolerance: 1e-7 };

/** For a function that is linear in its variables the difference is exact at any step, but for float32's rounding. */
export const LINEAR_IN_FLOAT32: Precision = { element: 'float32', step: 1, tolerance: 1e-4 };

/**
 * A graph fed with random numbers, and the check of its gradients. Sizes are chosen at random too, and at random have a name
 * or are known when the graph is built.
 */
export class Draft {
  readonly g = new Graph();
  readonly random: () => number;
  readonly precision: Precision;
  readonly variables: Tensor[] = [];
  readonly #sizes = new Map<string, number>();
  readonly #feeds: Record<string, Values> = {};

  constructor(seed: number, precision: Precision = EXACT) {
    this.random = randomNumbers(seed);
    this.precision = precision;
  }

  /** A whole number from `least` to `most`. */
  whole(least: number, most: number): number {
    return least + Math.floor(this.random() * (most - least + 1));
  }

  /** A size from 1 to `most`, half of the time by name. */
  size(most = 4): Dimension {
    return this.random() < 0.5 ? this.whole(1, most) : this.named(this.whole(1, most));
  }

  named(size: number): string {
    const name = `n${this.#sizes.size}`;
    this.#sizes.set(name, size);
    return name;
  }

  /** A named size that an input has, so that the graph can look it up. */
  namedInReach(size: number): string {
    const name = this.named(size);
    this.numbers([name]);
    return name;
  }

  sizes(rank: number): Dimension[] {
    return Array.from({ length: rank }, () => this.size());
  }

  /** What a size is in this draft's feeds. */
  known(size: Dimension): number {
    const known = typeof size === 'number' ? size : this.#sizes.get(size);
    if (known === undefined) throw new Error(`The test gave no number to the size '${size}'.`);
    return known;
  }

  /** An input of random numbers, with respect to which the gradient is checked. */
  variable(shape: Shape, [low, high]: readonly [number, number] = [-2, 2]): Tensor {
    const tensor = this.numbers(shape, [low, high]);
    this.variables.push(tensor);
    return tensor;
  }

  /** An input of random numbers that is not differentiated. */
  numbers(shape: Shape, [low, high]: readonly [number, number] = [-2, 2]): Tensor {
    return this.given(this.precision.element, shape, () => low + this.random() * (high - low));
  }

  /** An input of whole numbers in 0 … below − 1. */
  indices(shape: Shape, below: number): Tensor {
    return this.given('int64', shape, () => this.whole(0, below - 1));
  }

  given(element: ElementType, shape: Shape, value: (index: number) => number): Tensor {
    const name = `x${Object.keys(this.#feeds).length}`;
    const sizes = shape.map((size) => this.known(size));
    const data = Array.from({ length: sizes.reduce((a, b) => a * b, 1) }, (_, index) => value(index));
    this.#feeds[name] = { element, shape: sizes, data: typed(element, data) };
    return this.g.input(name, element, shape);
  }

  /** The loss is a random weighting of the outputs' elements: compares its gradient with differences, for every element of every variable. */
  async check(checked: readonly Tensor[]): Promise<void> {
    const { g, precision: { element, step, tolerance } } = this;
    const weighted = checked.map((output) => {
      const terms = multiply(g, output, this.numbers(output.shape, [-1, 1]));
      return sum(g, terms, terms.shape.map((_, axis) => axis));
    });
    const loss = multiply(g, weighted.reduce((a, b) => add(g, a, b)), g.scalar(element, 1));
    // A gradient may be one tensor for two variables; as outputs they must be two.
    const found = gradients(g, loss, this.variables).map((gradient) => multiply(g, gradient, g.scalar(element, 1)));
    found.forEach((gradient, index) => expect(gradient.shape).toEqual(this.variables[index]!.shape));
    const names = found.map((_, index) => `gradient of ${index}`);
    const outputs = { loss, ...Object.fromEntries(found.map((gradient, index) => [names[index], gradient])) };
    const session = await Session.open(g, outputs, { device: 'cpu', threads: 1 });
    try {
      const results: Readonly<Record<string, Values>> = await session.run(this.#feeds, names);
      const lossOf = async (feeds: Feeds): Promise<number> => Number((await session.run(feeds, ['loss'])).loss.data[0]);
      for (const [index, { origin }] of this.variables.entries()) {
        if (origin.kind !== 'input') throw new Error('A variable is an input.');
        const feed = this.#feeds[origin.name]!;
        const gradient = results[names[index]!]!;
        expect(gradient.shape).toEqual(feed.shape);
        const moved = async (place: number, by: number): Promise<number> => {
          const data = feed.data.slice() as Float64Array;
          data[place]! += by;
          return await lossOf({ ...this.#feeds, [origin.name]: { ...feed, data } });
        };
        for (let place = 0; place < feed.data.length; place += 1) {
          const difference = (await moved(place, step) - await moved(place, -step)) / (2 * step);
          const given = Number(gradient.data[place]);
          const what = `element ${place} of the gradient of variable ${index} is ${given}, a difference ${difference}`;
          expect(Math.abs(given - difference), what).toBeLessThanOrEqual(tolerance * (1 + Math.abs(difference)));
        }
      }
    } finally {
      await session.close();
    }
  }
}

function typed(element: ElementType, values: readonly number[]): TypedArray {
  switch (element) {
    case 'float64': return Float64Array.from(values);
    case 'float32': return Float32Array.from(values);
    case 'int64': return BigInt64Array.from(values, BigInt);
    case 'int32': return Int32Array.from(values);
    case 'bool': case 'uint8': return Uint8Array.from(values);
    default: throw new Error(`No test feeds ${element}.`);
  }
}
