import type { Access, Plan } from '../../../workflow/plan.ts';
import type { Want } from './want.ts';

/** Instructions for each want, in words that fit it. */
interface WantSubtasks {
  readonly plan: string;
  readonly write: string;
  readonly alone: string;
  readonly check: string;
}

const SUBTASKS: Readonly<Record<Want, WantSubtasks>> = {
  code: {
    plan: 'Work out the cases that the function has to handle and outline the solution. No code.', write: 'Write the function as the plan says and return the whole code.',
    alone: 'Write the function that the question asks for and return the whole code.', check: 'Check the code case by case, mend it where needed, and return the whole code.',
  },
  fix: {
    plan: 'Find the fault behind the reported result and outline the smallest change. No code.', write: 'Correct the function as the plan says and return the whole code.',
    alone: 'Correct the function so that the reported case is right, and return the whole code.', check: 'Check the corrected code case by case, mend it where needed, and return the whole code.',
  },
  feature: {
    plan: 'Work out what the new function has to do in each case and outline it. No code.', write: 'Write the new function as the plan says and return the whole code.',
    alone: 'Write the new function and return the whole code.', check: 'Check the code of the new function case by case, mend it where needed, and return the whole code.',
  },
  refactor: {
    plan: 'List what must not change and what is there twice. No code.', write: 'Simplify the function along the list you are shown and return the whole code.',
    alone: 'Simplify the function without changing its results and return the whole code.', check: 'Check the code: are the results the same? Mend it where needed and return the whole code.',
  },
  tests: {
    plan: 'List the cases that the tests have to cover, with their results. No code.', write: 'Write the tests for the cases you are shown and return the whole test file.',
    alone: 'Write the tests, unusual cases among them, and return the whole test file.', check: 'Check the tests: would they notice each mistake? Complete them and return the whole test file.',
  },
  explain: {
    plan: 'Note what the function does in each of the cases that are asked about.', write: 'Explain the function in words, from the notes you are shown. Change no code.',
    alone: 'Explain the function in words, with the results that are asked for. Change no code.', check: 'Check the explanation against the code and return it, corrected where needed.',
  },
  talk: {
    plan: 'Outline a reply to the message.', write: 'Write the reply that is outlined in what you are shown.', alone: 'Reply in one short sentence.', check: 'Check the reply and return it.',
  },
};

const planOf = (steps: readonly (readonly [worker: number, subtask: string, access: Access])[]): Plan => ({
  modelIds: steps.map(([worker]) => worker), subtasks: steps.map(([, subtask]) => subtask), accessList: steps.map(([,, access]) => access),
});

/** The usual shapes of a plan in the words of the want. A shape's name says who does what. */
export function wantPlans(want: Want, { planner, writer, checker }: { readonly planner: number; readonly writer: number; readonly checker: number }) {
  const { plan, write, alone, check } = SUBTASKS[want];
  return {
    'alone': planOf([[writer, alone, []]]),
    'plan, write': planOf([[planner, plan, []], [writer, write, [0]]]),
    'write, check': planOf([[writer, alone, []], [checker, check, [0]]]),
    'plan, write, check': planOf([[planner, plan, []], [writer, write, [0]], [checker, check, [1]]]),
  } as const satisfies Record<string, Plan>;
}
