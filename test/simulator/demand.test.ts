import { describe, expect, it } from 'vitest';
import { readDemand } from '../../backend/simulator/demand.ts';

describe('what a subtask demands', () => {
  it.each([
    ['Explain the function in words. Change no code.', 'words'],
    ['Answer the question from the notes you are shown; change no code.', 'words'],
    ['Write the explanation from the notes of your colleagues.', 'words'],
    ['Review what is said of the code and give the final answer.', 'words'],
    ['Reply in one short sentence.', 'words'],
    ['Write the tests and return the whole test file.', 'code'],
    ['Apply the plan you are shown and return the correction.', 'code'],
    ['Check the code case by case, mend it, and return the whole file.', 'code'],
    ['Rename fetchUser to loadUser and return every changed file.', 'code'],
    ['Do what is asked.', undefined],
    ['If it asks a question, answer it in words. If it asks for code, return the code, or every changed file whole.', undefined],
    ['Check the draft you are shown. Put right what does not hold. Return the whole answer.', undefined],
    ['Find the cases and write a short plan. No code.', undefined],
  ] as const)('"%s" returns %s', (subtask, product) => {
    expect(readDemand(subtask).product).toBe(product);
  });

  it.each([
    ['Find the wrong line and write a short plan. No code.', true],
    ['Analyse the fault step by step. Give no code.', true],
    ['Diagnose what happens for an empty list.', true],
    ['Find the cases and write a short plan. No code.', false],
    ['Work out what the function has to do and outline it.', false],
  ])('"%s" seeks a fault: %s', (subtask, seeks) => {
    expect(readDemand(subtask).seeksFault).toBe(seeks);
  });

  it.each([
    ['Apply the plan you are shown and return the correction.', 1],
    ['Write the code as the plan says; return the whole file.', 1],
    ['Write the tests from the notes of your colleagues.', 1],
    ['Check the code case by case and return it whole.', 1],
    ['Compare the attempts and return the best one whole.', 2],
    ['Check the draft you are shown and return it whole.', 1],
    ['Compare the drafts you are shown, and ask of each draft whether it holds.', 2],
    ['Write the function and return the whole file.', 0],
    ['Explain the code you are shown in words.', 0],
    ['Compare tomli with tomllib and say which is faster.', 0],
  ])('"%s" needs %i outputs of others', (subtask, needs) => {
    expect(readDemand(subtask).needs).toBe(needs);
  });
});
