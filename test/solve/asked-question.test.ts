import { expect, test } from 'vitest';
import { runRequestSchema } from '../../backend/protocol/run-request.ts';
import { askedQuestion } from '../../backend/solve/asked-question.ts';

test('models are asked in the person’s own words', () => {
  expect(askedQuestion(runRequestSchema.parse({ question: 'Why?' }))).toBe('Why?');
});

test('and told where the answer belongs, while the run keeps the words alone', () => {
  const request = runRequestSchema.parse({ question: 'Sort them', insertAt: { path: 'src/rows.js', line: 9, column: 1 } });
  expect(request.question).toBe('Sort them');
  expect(askedQuestion(request)).toBe(
    'Sort them\n\nThe cursor is in line 9 of src/rows.js, at column 1, both counted from 1.\n\n' +
    'Insert the code that is asked for at the cursor and change nothing else.',
  );
});
