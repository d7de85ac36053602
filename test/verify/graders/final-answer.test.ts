import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answerCode } from '../../../backend/verify/graders/answer-code.ts';
import { ExactAnswerGrader } from '../../../backend/verify/graders/exact-answer.ts';
import { finalAnswer, lastBoxed } from '../../../backend/verify/graders/final-answer.ts';
import { gradeOf } from './setup.ts';

describe('the result that an answer states', () => {
  it.each([
    ['nothing but \\boxed{5}', '5'],
    ['\\boxed{1} then \\boxed{\\frac{1}{\\sqrt{2}}}', '\\frac{1}{\\sqrt{2}}'],
    ['\\boxed{\\{1, 2\\}}', '\\{1, 2\\}'],
    ['\\boxed 7.', '7'],
    ['\\fbox{a}', 'a'],
    ['\\boxed{\\boxed{9}}', '9'],
    ['\\boxed{3} and a broken \\boxed{4', '3'],
    ['<answer> 12 </answer>', '12'],
    ['\\boxed{1} <answer>\\boxed{2}</answer>', '2'],
    ['Answer: 42.', '42'],
    ['**Answer:** 42', '42'],
    ['**Final answer: 42**', '42'],
    ['Well.\nThe answer is 4 apples', '4 apples'],
    ['Steps\n#### 17', '17'],
    ['Answer: 1\nAnswer: 2', '2'],
    ['<think>\\boxed{1}</think> Answer: 2', '2'],
    ['42', '42'],
  ])('of %j is %j', (answer, result) => {
    expect(finalAnswer(answer)).toBe(result);
  });

  it.each(['', 'two\nlines', '\\boxed{}', `Answer: ${'9'.repeat(3_000)}`])('is none in %j', (answer) => {
    expect(finalAnswer(answer)).toBeUndefined();
  });

  it('is the content of the last box whose braces are balanced', () => {
    const balancedText = fc.letrec<{ text: string }>((tie) => ({
      text: fc.oneof(
        { depthSize: 'small' },
        fc.stringMatching(/^[a-z0-9+ ]{1,8}$/),
        tie('text').map((inner) => `\\sqrt{${inner}}`),
      ),
    })).text;
    fc.assert(
      fc.property(balancedText, balancedText, (earlier, last) => {
        expect(lastBoxed(`\\boxed{${earlier}} so $\\boxed{${last}}$.`)).toBe(last);
      }),
    );
  });

  it('is looked for in a long text soon', () => {
    expect(finalAnswer(`${'\\boxed{'.repeat(300_000)}`)).toBeUndefined();
    expect(finalAnswer(`${'x'.repeat(3_000_000)}\nAnswer: 5`)).toBe('5');
  });
});

describe('an exact answer', () => {
  const grader = new ExactAnswerGrader({ answers: ['Mount Everest', 'Everest'] });

  it.each(['Answer: mount  everest.', '\\boxed{\\text{Everest}}', '"Everest"', 'Answer: **Everest**'])(
    'is found in %j',
    async (answer) => {
      expect((await gradeOf(grader, answer)).outcome).toBe('verified');
    },
  );

  it.each(['Answer: K2', 'Answer: Everest and K2', '', 'Not Everest'])('is not found in %j', async (answer) => {
    expect((await gradeOf(grader, answer)).outcome).toBe('failed');
  });

  it('heeds case where the task asks for it', async () => {
    const strict = new ExactAnswerGrader({ answers: ['pH'], caseSensitive: true });
    expect((await gradeOf(strict, 'Answer: pH')).outcome).toBe('verified');
    expect((await gradeOf(strict, 'Answer: PH')).outcome).toBe('failed');
  });
});

describe('the program in an answer', () => {
  it('is the last block that can be one', () => {
    const answer = [
      '```python',
      'old',
      '```',
      '```py',
      'new',
      '```',
      'prints',
      '```text',
      '5',
      '```',
      '```bash',
      'ls',
      '```',
    ].join('\n');
    expect(answerCode(answer, 'python')).toBe('new\n');
    expect(answerCode('```\nplain\n```', 'javascript')).toBe('plain\n');
  });

  it.each(['print(1)', '```python\nprint(1)', '```js\n1\n```', ''])('is none in %j', (answer) => {
    expect(answerCode(answer, 'python')).toBeUndefined();
  });
});
