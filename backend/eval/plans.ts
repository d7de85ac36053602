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

interface DraftStep {
  readonly worker: number;
  readonly subtask: string;
  readonly access: Access;
}

function step(worker: number, kind: SubtaskKind, access: Access = [], wording = 0): DraftStep {
  return { worker, subtask: SUBTASKS[kind][wording % 4] as string, access };
}

function planOf(steps: readonly DraftStep[]): Plan {
  return {
    modelIds: steps.map(({ worker }) => worker), subtasks: steps.map(({ subtask }) => subtask),
      accessList: steps.map(({ access }) => access),
  };
}

/** One worker, one step. */
export function alone(worker: number, wording = 0): Plan {
  return planOf([step(worker, 'alone', [], wording)]);
}

export function planWrite(planner: number, writer: number): Plan {
  return planOf([step(planner, 'plan'), step(writer, 'write', [0])]);
}

/** The checker sees the code and not the plan, which could mislead it. */
export function planWriteCheck(planner: number, writer: number, checker: number): Plan {
  return planOf([step(planner, 'plan'), step(writer, 'write', [0]), step(checker, 'check', [1])]);
}

/** The checker sees everything. */
export function planWriteCheckAll(planner: number, writer: number, checker: number): Plan {
  return planOf([step(planner, 'plan'), step(writer, 'write', [0]), step(checker, 'check', 'all')]);
}

/** One worker writes, and each of the others reviews the previous version. */
export function writeAndChecks(writer: number, checkers: readonly number[]): Plan {
  return planOf([step(writer, 'alone'), ...checkers.map((checker, index) => step(checker, 'check', [index], index))]);
}

/** Independent attempts, and a judge that reads all of them. */
export function attemptsAndJudge(writers: readonly number[], judge: number): Plan {
  return planOf([...writers.map((writer, index) => step(writer, 'alone', [], index)),
    step(judge, 'judge', writers.map((_, index) => index))]);
}

/** One plan, several independent implementations, and a judge that reads only the code. */
export function planAttemptsAndJudge(planner: number, writers: readonly number[], judge: number): Plan {
  return planOf([
    step(planner, 'plan'),
    ...writers.map((writer, index) => step(writer, 'write', [0], index)),
    step(judge, 'judge', writers.map((_, index) => index + 1)),
  ]);
}
