import { createHash } from 'node:crypto';
import { runInThisContext } from 'node:vm';
import type { TestCase } from '../../verify/graders/code/cases-grader.ts';
import { KINDS, type Kind } from '../../simulator/families/family.ts';
import { KeyedRandom } from '../../common/keyed-random.ts';
import { GYM_GENERATORS } from './generators/all-generators.ts';
import { Draw, type Exercise, type GymGenerator, type Split } from './generators/generator.ts';
import { GYM_PARAMETERS } from './gym-parameters.ts';
import type { Judge, Want } from './wants/want.ts';

/** A plausible wrong solution. */
export interface WrongSolution {
  /** The wrong idea behind it. A plan that states it is wrong. */
  readonly idea: string;
  readonly source: string;
  /** How hard the bug is to notice, 0 to 1. */
  readonly subtlety: number;
}

/** A question of the gym with its solution. Only `question` is shown to planners and workers. */
export interface GymTask {
  readonly id: string;
  readonly kind: Kind;
  readonly want: Want;
  /** Of the answer. */
  readonly form: 'code' | 'words';
  readonly judge: Judge;
  readonly generator: string;
  readonly split: Split;
  readonly question: string;
  /** In units of skill: a worker of equal skill succeeds alone about half the time. */
  readonly difficulty: number;
  readonly functionName: string;
  /** The right answer: a solution or tests in JavaScript, or words. */
  readonly source: string;
  /** The statement of a correct plan. */
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

/** Each case needs a process when an answer is graded. */
const USUAL_CASES = 4;

/** The maximum number of draws for a task that is new and has cases that detect all its bugs. */
const MAX_DRAWS = 50;

/** Beginnings of questions. `CALL` is replaced by the function; its description follows. */
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

/** Tasks from the split's generators in turn. @throws RangeError if it cannot draw that many different ones. */
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

/** The generators of a split, alternating between kinds. */
export function generatorsOf(split: Split): GymGenerator[] {
  const byKind = KINDS.map((kind) => GYM_GENERATORS.filter((generator) => generator.kind === kind && generator.split === split));
  const most = Math.max(...byKind.map(({ length }) => length));
  return Array.from({ length: most }, (_, place) => byKind.flatMap((generators) => generators.slice(place, place + 1))).flat();
}

/** Undefined if one of the bugs passes all cases with these parameters. */
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
    id: `${name}-${digest}`, kind, want: 'code', form: 'code', judge: { by: 'cases' }, generator: name, split, question, functionName, source, approach, wrong, cases,
    difficulty: GYM_PARAMETERS.difficulty[kind] + harder,
  };
}

function edited(source: string, find: string, replace: string): string {
  const parts = source.split(find);
  const places = parts.length - 1;
  if (places !== 1) throw new Error(`"${find}" stands ${places} times in the solution; a fault needs a place of its own.`);
  return parts.join(replace);
}

/** A small set of calls that detects every wrong solution. Calls that detect the most come first, so wrong answers fail early. */
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
 * The result of a known solution for a call, as JSON; exceptions count as results. Only for sources of this folder: they run without a sandbox.
 */
export function resultOf(source: string, functionName: string, input: readonly unknown[]): string {
  const call = runInThisContext(`(() => { 'use strict'; ${source}\nreturn ${functionName}; })()`) as (...given: unknown[]) =>
    unknown;
  try {
    const result = call(...(structuredClone(input) as unknown[]));
    // JSON would write null for NaN, but some functions return null.
    const plain = (_key: string, value: unknown): unknown =>
      (Number.isFinite(value) || typeof value !== 'number' ? value : String(value));
    return JSON.stringify(result, plain) ?? 'undefined';
  } catch (error) {
    return `throws ${String(error)}`;
  }
}

/** Finds tasks by their questions: a simulated worker recognises its task with it. */
export class GymBook {
  readonly #tasks: ReadonlyMap<string, GymTask>;

  constructor(tasks: readonly GymTask[]) {
    this.#tasks = new Map(tasks.map((task) => [task.question, task]));
  }

  find(question: string): GymTask | undefined {
    return this.#tasks.get(question.trim());
  }
}
