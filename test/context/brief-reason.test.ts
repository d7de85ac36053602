import { expect, it } from 'vitest';
import { briefReason, foundWords } from '../../backend/context/brief-reason.ts';

it('says first what is known for certain, and the words of all parts together', () => {
  const reasons = [foundWords(['deep', 'equal']), 'a test that fails', foundWords(['equal', 'merge', 'outer']), 'defines merge'];
  expect(briefReason(reasons)).toBe('a test that fails; defines merge; has deep, equal, merge');
});

it('says that a part lies beside what was found only where there is nothing else to say', () => {
  expect(briefReason([foundWords([]), foundWords(['merge'])])).toBe('has merge');
  expect(briefReason([foundWords([]), foundWords([])])).toBe('beside what was found');
  expect(briefReason([])).toBe('');
});

it('names three things at most', () => {
  expect(briefReason(['one', 'two', 'three', 'four', foundWords(['merge'])])).toBe('one; two; three');
});
