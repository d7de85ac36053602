import { expect, it } from 'vitest';
import { questionAt } from '../../../extension/suggest/question-at.ts';

it('a question at the cursor says where the cursor is, and nothing of what stands there', () => {
  expect(questionAt(' Sort the orders. ', { path: 'src/a.ts', line: 12, column: 5 })).toBe([
    'Sort the orders.',
    'The cursor is in line 12 of src/a.ts, at column 5, both counted from 1.',
    'Insert the code that is asked for at the cursor and change nothing else.',
  ].join('\n\n'));
});
