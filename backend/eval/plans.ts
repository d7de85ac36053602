import type { Access, Plan } from '../workflow/plan.ts';

type Phrases = readonly [string, string, string, string];

/** Instructions of steps in several wordings, so that repeated attempts of one worker are independent. */
export const SUBTASKS = {
  plan: [
    'Outline step by step how the function has to work. Name the edge cases. Give no code.',
    'Analyse the question and draw up a short plan for whoever writes the code. Do not write the code yet.',
    'Think through the question, then describe in a few lines the approach that handles every case. No code.',
    'Work out what the function must do with unusual arguments, and plan the solution in words.',
  ],
  write: [
    'Write the function. Follow the plan that you are shown and return the whole code in a fenced block.',
    'Implement what was planned and give the complete function in a fenced block.',
    'Write the complete JavaScript function along the lines of what you see, in one fenced block.',
    'Code the function as outlined by your colleague; return it whole in a fenced block.',
  ],
  alone: [
    'Write the function that the question asks for and return the whole code in a fenced block.',
    'Implement the function in JavaScript. Give the complete code in one fenced block.',
    'Write a correct function for the question; mind the edge cases, and return all of it in a fenced block.',
    'Produce the complete function on your own, in a fenced block.',
  ],
  check: [
    'Check the code against the question, case by case; correct what is wrong and return the final function whole.',
    'Review the code critically: edge cases, order, off by one. Return the final function in a fenced block.',
    'Verify the function with a few calls by hand, repair it if needed, and give the final code whole.',
    'Examine the code once more for cases that were missed, and return the final function in a fenced block.',
  ],
  judge: [
    'Compare the attempts that you are shown, choose the one that is right in every case, and return its code whole.',
    'Judge the independent attempts: which one holds in the edge cases, too? Return that function whole.',
    'Check every attempt against the question and select the correct one; give its complete code.',
    'Decide which of the versions does what the question asks for, and hand it on whole in a fenced block.',
  ],
} as const satisfies Record<string, Phrases>;

export type SubtaskKind = keyof typeof SUBTASKS;

export type Phrasebook = Readonly<Record<SubtaskKind, Phrases>>;

/** The same for questions of any kind: mathematics, choices, programs in any language. */
export const QUESTION_SUBTASKS = {
  plan: [
    'Outline step by step how the question is best solved. Name the difficult cases. Do not give the solution yet.',
    'Analyse the question and draw up a short plan for whoever solves it. Do not solve it yet.',
    'Think through the question, then outline an approach that leads to the solution. Do not solve it yet.',
    'Work out what is asked and what is easily missed, and plan the solution. Do not solve it yet.',
  ],
  write: [
    'Write the solution. Follow the plan that you are shown, and give the whole of it in the form that the question asks for.',
    'Carry out what was planned: produce the whole solution in the form that the question asks for.',
    'Write the complete solution along the lines of what you see, in the form that the question asks for.',
    'Produce the solution as outlined by your colleague, whole and in the form that the question asks for.',
  ],
  alone: [
    'Write the solution of the question, whole and in the form that it asks for.',
    'Produce a solution of the question. Give all of it in the form that the question asks for.',
    'Write a correct solution; mind the difficult cases, and give all of it in the form that the question asks for.',
    'Produce the complete solution on your own, in the form that the question asks for.',
  ],
  check: [
    'Check the solution against the question, step by step; correct what is wrong and return the final solution whole.',
    'Review the solution critically: hidden cases, order, off by one. Return the final solution in the form that the question asks for.',
    'Verify the solution by hand, repair it if needed, and give the final solution whole.',
    'Examine the solution once more for what was missed, and return it in the form that the question asks for.',
  ],
  judge: [
    'Compare the attempts that you are shown, choose the one that is right, and return its solution whole.',
    'Judge the independent attempts: which one holds in the difficult cases, too? Return that solution whole.',
    'Check every attempt against the question and select the correct one; give its complete solution.',
    'Decide which of the attempts does what the question asks for, and hand its solution on whole.',
  ],
} as const satisfies Record<SubtaskKind, Phrases>;

/** Plans of the usual shapes. Workers are ordinals. */
export type PlanShapes = ReturnType<typeof shapesOf>;

interface DraftStep {
  readonly worker: number;
  readonly subtask: string;
  readonly access: Access;
}

function planOf(steps: readonly DraftStep[]): Plan {
  return {
    modelIds: steps.map(({ worker }) => worker), subtasks: steps.map(({ subtask }) => subtask),
      accessList: steps.map(({ access }) => access),
  };
}

/** The shapes of plans with subtasks in these words. */
export function shapesOf(words: Phrasebook) {
  function step(worker: number, kind: SubtaskKind, access: Access = [], wording = 0): DraftStep {
    return { worker, subtask: words[kind][wording % 4] as string, access };
  }

  /** One worker, one step. */
  function alone(worker: number, wording = 0): Plan {
    return planOf([step(worker, 'alone', [], wording)]);
  }

  function planWrite(planner: number, writer: number): Plan {
    return planOf([step(planner, 'plan'), step(writer, 'write', [0])]);
  }

  /** The checker sees the code and not the plan, which could mislead it. */
  function planWriteCheck(planner: number, writer: number, checker: number): Plan {
    return planOf([step(planner, 'plan'), step(writer, 'write', [0]), step(checker, 'check', [1])]);
  }

  /** The checker sees everything. */
  function planWriteCheckAll(planner: number, writer: number, checker: number): Plan {
    return planOf([step(planner, 'plan'), step(writer, 'write', [0]), step(checker, 'check', 'all')]);
  }

  /** One worker writes, and each of the others reviews the previous version. */
  function writeAndChecks(writer: number, checkers: readonly number[]): Plan {
    return planOf([step(writer, 'alone'), ...checkers.map((checker, index) => step(checker, 'check', [index], index))]);
  }

  /** Independent attempts, and a judge that reads all of them. */
  function attemptsAndJudge(writers: readonly number[], judge: number): Plan {
    return planOf([...writers.map((writer, index) => step(writer, 'alone', [], index)),
      step(judge, 'judge', writers.map((_, index) => index))]);
  }

  /** One plan, several independent implementations, and a judge that reads only the code. */
  function planAttemptsAndJudge(planner: number, writers: readonly number[], judge: number): Plan {
    return planOf([
      step(planner, 'plan'),
      ...writers.map((writer, index) => step(writer, 'write', [0], index)),
      step(judge, 'judge', writers.map((_, index) => index + 1)),
    ]);
  }

  return { alone, planWrite, planWriteCheck, planWriteCheckAll, writeAndChecks, attemptsAndJudge, planAttemptsAndJudge };
}

export const FUNCTION_SHAPES = shapesOf(SUBTASKS);
export const QUESTION_SHAPES = shapesOf(QUESTION_SUBTASKS);

export const { alone, planWrite, planWriteCheck, planWriteCheckAll, writeAndChecks, attemptsAndJudge, planAttemptsAndJudge } = FUNCTION_SHAPES;
