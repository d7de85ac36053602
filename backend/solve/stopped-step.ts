import type { StepView } from '../protocol/run-snapshot.ts';

/*
 * A step that a person stops while it works. docs/decisions/0020 says what it hands on.
 */

/** What the worker of a step wrote last: of a reply that was broken off as much as came; empty if nothing came. */
export function lastWords({ attempt, turns = [] }: Pick<StepView, 'attempt' | 'turns'>): string {
  const broken = attempt?.text.trim() ?? '';
  return broken === '' ? (turns.at(-1)?.reply.trim() ?? '') : broken;
}

/** The output of a stopped step, as its readers are shown it: marked, so that nobody takes it for done. */
export function stoppedOutput(has: string): string {
  return has === '' ? NOTHING : `A person stopped this step before it was done. What it had by then:\n\n${has}`;
}

const NOTHING = 'A person stopped this step before it had anything to hand on.';

/** Why a run ends whose answer a stopped step was to give. */
export const noAnswer = (step: number): string =>
  `Step ${step + 1} was to give the answer and was stopped before it had anything to hand on: resume the run to ask it again.`;
