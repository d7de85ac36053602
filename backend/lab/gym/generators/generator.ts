import type { Kind } from '../../../simulator/families/family.ts';
import type { KeyedRandom } from '../../../common/keyed-random.ts';

/** Held-out tasks share no generator, phrasing or parameter with training tasks. */
export const SPLITS = ['train', 'held-out'] as const;
export type Split = (typeof SPLITS)[number];

/** A plausible bug in an exercise. */
export interface Fault {
  /** Occurs exactly once in the solution. */
  readonly find: string;
  readonly replace: string;
  /** The wrong idea behind it, in the words of a plan. Unique in its exercise, because it identifies the plan. */
  readonly idea: string;
  /** How hard it is to notice, 0 to 1. */
  readonly subtlety: number;
}

/** A question with drawn parameters and its solution. */
export interface Exercise {
  readonly functionName: string;
  /** Names of the arguments in the question. */
  readonly parameters: string;
  /** What the function does, in several phrasings, each beginning with a verb: "returns …". */
  readonly phrasings: readonly [string, string, ...string[]];
  /** The correct solution, in JavaScript. */
  readonly source: string;
  /** The statement of a correct plan. */
  readonly approach: string;
  readonly faults: readonly Fault[];
  /** Arguments of calls that distinguish correct from wrong solutions. */
  readonly inputs: readonly (readonly unknown[])[];
}

/** A family of exercises of one kind. */
export interface GymGenerator {
  readonly name: string;
  readonly kind: Kind;
  readonly split: Split;
  /** How much harder than its kind, in skill; may be negative. */
  readonly harder: number;
  readonly make: (draw: Draw) => Exercise;
}

/** Draws an exercise's parameters. Whole numbers of training tasks and of held-out tasks are disjoint. */
export class Draw {
  readonly #random: KeyedRandom;
  readonly #split: Split;

  constructor(random: KeyedRandom, split: Split) {
    this.#random = random;
    this.#split = split;
  }

  /** A parameter of the question: a whole number from `from` to `to`. Every third is reserved for held-out tasks. */
  whole(draw: string, from: number, to: number): number {
    const allowed = Array.from({ length: to - from + 1 }, (_, index) => from + index).filter((value) => isOf(this.#split, value));
    return this.#random.pick(draw, allowed) ?? from;
  }

  pick<T>(draw: string, items: readonly [T, ...T[]]): T {
    return this.#random.pick(draw, items);
  }

  /** Different items in random order. */
  some<T>(draw: string, count: number, items: readonly T[]): T[] {
    return this.#random.shuffled(draw, items).slice(0, count);
  }

  /** Whole numbers for test cases, both ends included. */
  wholes(draw: string, count: number, from: number, to: number): number[] {
    return Array.from({ length: count },
      (_, index) => from + Math.floor(this.#random.unit(`${draw}:${index}`) * (to - from + 1)));
  }
}

export function isOf(split: Split, value: number): boolean {
  return (value % 3 === 0) === (split === 'held-out');
}

/** Shorthand for a bug in a generator's table. */
export function fault(find: string, replace: string, idea: string, subtlety: number): Fault {
  return { find, replace, idea, subtlety };
}

/** Raw JavaScript between the backticks, including backslashes, with values inserted. */
export function js(strings: TemplateStringsArray, ...values: readonly unknown[]): string {
  return `${String.raw(strings, ...values).trim()}\n`;
}

export const WORDS = [
  'amber', 'birch', 'cloud', 'delta', 'ember', 'field', 'grove', 'harbour', 'island', 'juniper', 'kettle', 'lantern', 'meadow',
    'north',
  'orchard', 'pebble', 'quartz', 'river', 'stone', 'timber',
] as const;
