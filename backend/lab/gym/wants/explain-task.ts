import { resultOf, type GymTask } from '../gym-tasks.ts';
import { callsOf, type MakeTask, withCode } from './made-of.ts';
import type { Fact } from './want.ts';

const OPENINGS = {
  train: ['Explain what NAME does, and what it returns for CALLS.', 'What does NAME do? Say in words, with the results of CALLS.', 'How does NAME work? I want to understand what comes out of CALLS. No code, please.'],
  'held-out': ['Can you walk me through NAME? What do CALLS give?', 'I do not understand NAME. Which results have CALLS, and why?'],
} as const;

/** A question about code, whose facts are the results of calls. */
export const explainTask: MakeTask = (exercise, random) => {
  const { functionName, source, approach, wrong, split } = exercise;
  const right = explanationOf(exercise, source, approach);
  const question = random.pick('opening', OPENINGS[split]).replace('NAME', () => functionName)
    .replace('CALLS', () => listOf(callsOf(exercise).map(({ call }) => `\`${call}\``)));
  return {
    ...exercise,
    question: withCode(question, source),
    form: 'words',
    source: right,
    wrong: wrong.map(({ idea, source: other, subtlety }) => ({ idea, subtlety, source: explanationOf(exercise, other, idea) })),
    judge: { by: 'facts', facts: factsOf(exercise, source) },
  };
};

function factsOf(exercise: GymTask, source: string): Fact[] {
  return callsOf(exercise).map(({ call, given }) => ({ call, result: resultOf(source, exercise.functionName, given) }));
}

function explanationOf(exercise: GymTask, source: string, idea: string): string {
  return [`\`${exercise.functionName}\`: ${idea}`, ...factsOf(exercise, source).map(({ call, result }) => `- \`${call}\` gives \`${result}\`.`)].join('\n');
}

function listOf(items: readonly string[]): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`;
}
