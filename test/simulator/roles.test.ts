import { describe, expect, it } from 'vitest';
import { SUBTASKS } from '../../backend/simulator/conductor-phrases.ts';
import { readRole } from '../../backend/simulator/roles.ts';

describe('the role read from a subtask', () => {
  it.each([
    ['Outline a strategy for the fix.', 'plan'],
    ['Write a short step-by-step plan. Do not write code.', 'plan'],
    ['Identify why mergeRanges returns two ranges.', 'plan'],
    ['Without changing anything, explain the cause.', 'plan'],
    ['Following the plan, write the corrected file.', 'write'],
    ['Implement the fix described in the analysis of step 0.', 'write'],
    ['Repair the function and give the whole file.', 'write'],
    ['Read the report and fix the module.', 'write'],
    ['Look at the answer and check it.', 'check'],
    ['Review the fix and correct it where needed.', 'check'],
    ['Compare both attempts and return the right one.', 'check'],
    ['Double-check the code for edge cases.', 'check'],
    ["Carefully verify your colleague's patch.", 'check'],
    ['List the cases that the tests have to cover. No code.', 'plan'],
    ['Measure where the time goes and note the costly places.', 'plan'],
    ['Change no code: say what the function does for an empty list.', 'plan'],
    ['Rename fetchUser to loadUser everywhere.', 'write'],
    ['Document parse_float and return the changed file.', 'write'],
    ['Extract the state machine into a class of its own.', 'write'],
    ['Add the option --json to the command.', 'write'],
    ['Reply in one friendly sentence.', 'write'],
    ['Answer the question in words, from the pieces you are shown.', 'write'],
    ['Test the tests: would they notice a mistake?', 'check'],
  ] as const)('%s → %s', (subtask, role) => {
    expect(readRole(subtask)).toEqual({ role, vague: false });
  });

  it.each(['Solve the user question.', 'Answer this.', 'Help.', ''])('is writing, and vague, for "%s"', (subtask) => {
    expect(readRole(subtask)).toEqual({ role: 'write', vague: true });
  });

  it('is the one meant in every wording of the simulated Conductor', () => {
    const meant = { plan: 'plan', write: 'write', alone: 'write', check: 'check', judge: 'check' } as const;
    for (const [kind, phrases] of Object.entries(SUBTASKS) as [keyof typeof meant, readonly string[]][]) {
      for (const phrase of phrases) expect(readRole(phrase), phrase).toEqual({ role: meant[kind], vague: false });
    }
  });
});
