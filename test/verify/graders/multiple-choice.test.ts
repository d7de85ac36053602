import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chosenOption, letterOf, MultipleChoiceGrader } from '../../../backend/verify/graders/multiple-choice.ts';
import { gradeOf } from './setup.ts';

const choices = ['Paris', 'Rome', 'a good point', 'None of the above'];

const CHOSEN: readonly (readonly [answer: string, letter: string])[] = [
  ['Answer: C', 'C'],
  ['Thinking about it …\n\nAnswer: B', 'B'],
  ['answer: d', 'D'],
  ['**Answer:** B', 'B'],
  ['**Answer: B**', 'B'],
  ['Answer: $C$', 'C'],
  ['Answer: (A)', 'A'],
  ['Answer: A) Paris', 'A'],
  ['Answer: A. Paris', 'A'],
  ['Answer: B - Rome', 'B'],
  ['Answer:\nB', 'B'],
  ['## Answer:\n\n**D**', 'D'],
  ['Final Answer: D.', 'D'],
  ['The answer is C.', 'C'],
  ['The correct answer is (B).', 'B'],
  ['The correct option is D', 'D'],
  ['So the best choice is: A', 'A'],
  ['The answer is C because the others are wrong.', 'C'],
  ['The answer is **B**, since Rome is old.', 'B'],
  ['I would choose B.', 'B'],
  ['\\boxed{C}', 'C'],
  ['Therefore $\\boxed{\\text{D}}$.', 'D'],
  ['\\boxed{\\textbf{(A)}}', 'A'],
  ['\\boxed{B) Rome}', 'B'],
  ['<answer>C</answer>', 'C'],
  ['<answer>\\boxed{A}</answer>', 'A'],
  ['A', 'A'],
  ['(b)', 'B'],
  ['C.', 'C'],
  ['It cannot be A or B.\nD', 'D'],
  ['Answer: A\nWait, no.\nAnswer: B', 'B'],
  ['\\boxed{A}\nOn reflection: Answer: D', 'D'],
  ['<think>Answer: A</think>\nAnswer: C', 'C'],
  ['Answer: Rome', 'B'],
  ['The answer is "None of the above".', 'D'],
  ['Reasoning first.\nParis', 'A'],
  ['The answer is a good point', 'C'],
  ['Answer: option D', 'D'],
];

const NOT_CHOSEN: readonly string[] = [
  '',
  'I do not know.',
  'Answer: A or B',
  'Answer: A, B',
  'Answer: A and C.',
  'Answer: (A) and (B)',
  '\\boxed{A, C}',
  'Answer: E',
  'Answer: Because it is late',
  'The answer is a matter of taste.',
  'Answer: A dog',
  'Answer: none',
  'A good day\nB is not bad\nWhatever.',
  'ABCD',
  'Answer: ABCD',
  'Answer:',
];

describe('the option that an answer chooses', () => {
  it.each(CHOSEN)('%j is %s', (answer, letter) => {
    const chosen = chosenOption(answer, choices);
    expect(chosen === undefined ? 'none' : letterOf(chosen)).toBe(letter);
  });

  it.each(NOT_CHOSEN)('%j chooses none', (answer) => {
    expect(chosenOption(answer, choices)).toBeUndefined();
  });

  it('may be one of ten', () => {
    const ten = Array.from({ length: 10 }, (_, index) => `choice number ${index}`);
    expect(chosenOption('Answer: J', ten)).toBe(9);
    expect(chosenOption('Answer: K', ten)).toBeUndefined();
  });

  it('is found for every letter in every usual phrase', () => {
    const phrases = [
      'Answer: $',
      'The answer is $.',
      'The correct answer is ($).',
      '\\boxed{$}',
      'Well.\n\n**$**',
      'Final answer: **$**',
    ];
    fc.assert(
      fc.property(fc.constantFrom(...phrases), fc.integer({ min: 0, max: 3 }), fc.lorem(), (phrase, position, before) => {
        expect(chosenOption(`${before}\n${phrase.replace('$', () => letterOf(position))}`, choices)).toBe(position);
      }),
    );
  });

  it('is looked for in any text without an error, and in a long one soon', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 500 }), (text) => {
        const chosen = chosenOption(text, choices);
        expect(chosen === undefined || (chosen >= 0 && chosen < 4)).toBe(true);
      }),
    );
    expect(chosenOption(`${'Answer: '.repeat(200_000)}\nAnswer: B`, choices)).toBe(1);
    expect(chosenOption('\\boxed{'.repeat(100_000), choices)).toBeUndefined();
  });
});

describe('the grader of choices', () => {
  const grader = new MultipleChoiceGrader({ choices, answer: 1 });

  it('verifies the right letter and fails others', async () => {
    expect(await gradeOf(grader, 'Answer: B')).toMatchObject({ verified: true, score: 1, outcome: 'verified' });
    expect(await gradeOf(grader, 'Answer: A')).toMatchObject({ verified: false, score: 0, outcome: 'failed' });
  });

  it('fails hedging', async () => {
    expect(await gradeOf(grader, 'Answer: A, B, C or D')).toMatchObject({ verified: false, outcome: 'failed' });
  });
});
