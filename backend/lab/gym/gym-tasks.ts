import { createHash } from 'node:crypto';
import { runInThisContext } from 'node:vm';
import type { TestCase } from '../../verify/graders/code/cases-grader.ts';
import { KINDS, type Kind } from '../../simulator/families/family.ts';
import { KeyedRandom } from '../../common/keyed-random.ts';
import { GYM_GENERATORS } from './generators/all-generators.ts';
import { Draw, type Exercise, type GymGenerator, type Split } from './generators/generator.ts';
import { GYM_PARAMETERS } from './gym-parameters.ts';

/** A plausible wrong solution. */
export interface WrongSolution {
  /** The wrong idea behind it; a plan that says so is a wrong plan. */
  readonly idea: string;
  readonly source: string;
  /** How well the fault hides from a reader, 0 to 1. */
  readonly subtlety: number;
}

/** A question of the gym with all that is known about solving it. Only `question` is shown to anybody. */
export interface GymTask {
  readonly id: string;
  readonly kind: Kind;
  readonly generator: string;
  readonly split: Split;
  readonly question: string;
  /** In the units of a worker's skill: where both are equal, writing it alone succeeds about every other time. */
  readonly difficulty: number;
  readonly functionName: string;
  /** The correct solution, in JavaScript. */
  readonly source: string;
  /** What a right plan says. */
  readonly approach: string;
  /** Each fails at least one of the cases. */
  readonly wrong: readonly WrongSolution[];
  readonly cases: readonly TestCase[];
}

export interface GymTasksOptions {
  /** The same seed gives the same tasks. */
  readonly seed: number;
  readonly split: Split;
  readonly count: number;
}

/** Cases cost a process each, when an answer is graded. */
const USUAL_CASES = 4;

/** So many draws are made for a task until one is new and has cases that tell all its faults. */
const MAX_DRAWS = 50;

/** How a question begins. `CALL` stands for the function, and what follows says what it does. */
const OPENINGS: Readonly<Record<Split, readonly [string, ...string[]]>> = {
  train: [
    'Write a JavaScript function CALL. It', 'I need CALL in JavaScript: a function that', 'Please implement CALL. The function',
    'How do I write CALL? It is a function that', 'Our code calls CALL, but nobody has written it. It',
  ],
  'held-out': [
    'Give me a JavaScript function CALL which', 'CALL is missing in our program; it', 'Could you program CALL, a function which',
    'We want a function CALL that',
  ],
};

/** Tasks in turn from every generator of the split. @throws RangeError where so many different ones cannot be drawn. */
export function gymTasks({ seed, split, count }: GymTasksOptions): GymTask[] {
  const generators = generatorsOf(split);
  const asked = new Set<string>();
  return Array.from({ length: count }, (_, index) => {
    const generator = generators[index % generators.length] as GymGenerator;
    for (let attempt = 0; attempt < MAX_DRAWS; attempt += 1) {
      const task = drawTask(generator, new KeyedRandom('gym task', seed, split, index, attempt));
      if (!task || asked.has(task.question)) continue;
      asked.add(task.question);
      return task;
    }
    const each = Math.ceil(count / generators.length);
    throw new RangeError(`The generator "${generator.name}" has no ${each} different tasks: ask for fewer.`);
  });
}

/** The generators of a split, the kinds in turn. */
export function generatorsOf(split: Split): GymGenerator[] {
  const byKind = KINDS.map((kind) => GYM_GENERATORS.filter((generator) => generator.kind === kind && generator.split === split));
  const most = Math.max(...byKind.map(({ length }) => length));
  return Array.from({ length: most }, (_, place) => byKind.flatMap((generators) => generators.slice(place, place + 1))).flat();
}

/** Undefined where one of the faults passes all cases with these parameters. */
function drawTask({ name, kind, split, harder, make }: GymGenerator, random: KeyedRandom): GymTask | undefined {
  const exercise = make(new Draw(random, split));
  const { functionName, parameters, phrasings, source, approach } = exercise;
  const wrong = exercise.faults.map(({ find, replace, idea, subtlety }) =>
    ({ idea, subtlety, source: edited(source, find, replace) }));
  const cases = casesOf(exercise, wrong);
  if (!cases) return undefined;
  const opening = random.pick('opening', OPENINGS[split]).replace('CALL', () => `${functionName}(${parameters})`);
  const question = `${opening} ${random.pick('phrasing', phrasings)}`;
  const digest = createHash('sha256').update(JSON.stringify([question, source])).digest('hex').slice(0, 10);
  return {
    id: `${name}-${digest}`, kind, generator: name, split, question, functionName, source, approach, wrong, cases,
    difficulty: GYM_PARAMETERS.difficulty[kind] + harder,
  };
}

function edited(source: string, find: string, replace: string): string {
  const parts = source.split(find);
  const places = parts.length - 1;
  if (places !== 1) throw new Error(`"${find}" stands ${places} times in the solution; a fault needs a place of its own.`);
  return parts.join(replace);
}

/** Few calls that tell every wrong solution, those that tell most of them first: wrong answers are then found out early. */
function casesOf({ functionName, source, inputs }: Exercise, wrong: readonly WrongSolution[]): TestCase[] | undefined {
  const expected = inputs.map((input) => resultOf(source, functionName, input));
  const caught = inputs.map((input, at) => new Set(wrong.filter((one) => resultOf(one.source, functionName,
    input) !== expected[at])));
  const left = new Set(wrong);
  const chosen: number[] = [];
  while (chosen.length < inputs.length && (left.size > 0 || chosen.length < USUAL_CASES)) {
    const free = inputs.map((_, at) => at).filter((at) => !chosen.includes(at));
    const gain = (at: number): number => [...left].filter((one) => caught[at]?.has(one)).length;
    const best = free.reduce((a, b) => (gain(b) > gain(a) ? b : a));
    chosen.push(best);
    for (const one of caught[best] ?? []) left.delete(one);
  }
  if (left.size > 0) return undefined;
  return chosen.map((at) => ({ input: (inputs[at] ?? []).map((value) => JSON.stringify(value)).join('\n'),
    output: expected[at] as string }));
}

/**
 * What a solution of ours returns for a call, as JSON; what it throws counts as a result of its own. Only for sources of this
 * folder: nothing holds them back.
 */
export function resultOf(source: string, functionName: string, input: readonly unknown[]): string {
  const call = runInThisContext(`(() => { 'use strict'; ${source}\nreturn ${functionName}; })()`) as (...given: unknown[]) =>
    unknown;
  try {
    const result = call(...(structuredClone(input) as unknown[]));
    // JSON would write null for what is no number, and null is what some of the functions return.
    const plain = (_key: string, value: unknown): unknown =>
      (Number.isFinite(value) || typeof value !== 'number' ? value : String(value));
    return JSON.stringify(result, plain) ?? 'undefined';
  } catch (error) {
    return `throws ${String(error)}`;
  }
}

/** Tasks by their questions: how a simulated worker knows what it is asked about. */
export class GymBook {
  readonly #tasks: ReadonlyMap<string, GymTask>;

  constructor(tasks: readonly GymTask[]) {
    this.#tasks = new Map(tasks.map((task) => [task.question, task]));
  }

  find(question: string): GymTask | undefined {
    return this.#tasks.get(question.trim());
  }
}
