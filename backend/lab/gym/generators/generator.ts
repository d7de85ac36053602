import type { Kind } from '../../../simulator/families/family.ts';
import type { KeyedRandom } from '../../../common/keyed-random.ts';

/** Held-out tasks share no generator, no phrasing and no parameter with the tasks of training. */
export const SPLITS = ['train', 'held-out'] as const;
export type Split = (typeof SPLITS)[number];

/** A plausible way to get an exercise wrong. */
export interface Fault {
  /** Stands exactly once in the solution. */
  readonly find: string;
  readonly replace: string;
  /** The wrong idea behind it, as a plan would put it. Unique in its exercise: a plan is known by it. */
  readonly idea: string;
  /** How well it hides from a reader, 0 to 1. */
  readonly subtlety: number;
}

/** A question with its parameters drawn, and all that is known about solving it. */
export interface Exercise {
  readonly functionName: string;
  /** Names of the arguments, as the question shows them. */
  readonly parameters: string;
  /** What the function does, in several phrasings, each beginning with a verb: "returns …". */
  readonly phrasings: readonly [string, string, ...string[]];
  /** The correct solution, in JavaScript. */
  readonly source: string;
  /** What a right plan says. */
  readonly approach: string;
  readonly faults: readonly Fault[];
  /** Arguments of calls that tell right from wrong. */
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

/** Draws an exercise's parameters. Whole numbers that training may draw are never drawn for held-out tasks, and the other way. */
export class Draw {
  readonly #random: KeyedRandom;
  readonly #split: Split;

  constructor(random: KeyedRandom, split: Split) {
    this.#random = random;
    this.#split = split;
  }

  /** A parameter of the question: a whole number from `from` to `to`, of which every third is kept for held-out tasks. */
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

/** Short for a fault in a generator's table. */
export function fault(find: string, replace: string, idea: string, subtlety: number): Fault {
  return { find, replace, idea, subtlety };
}

/** JavaScript as it stands between the backticks, backslashes included, with values filled in. */
export function js(strings: TemplateStringsArray, ...values: readonly unknown[]): string {
  return `${String.raw(strings, ...values).trim()}\n`;
}

export const WORDS = [
  'amber', 'birch', 'cloud', 'delta', 'ember', 'field', 'grove', 'harbour', 'island', 'juniper', 'kettle', 'lantern', 'meadow',
    'north',
  'orchard', 'pebble', 'quartz', 'river', 'stone', 'timber',
] as const;
