import { describe, expect, it } from 'vitest';
import { textAtCursor, type CursorAnswer } from '../../../extension/suggest/text-at-cursor.ts';

const TEXT = 'function add(a, b) {\n  \n}\n';
const OFFSET = TEXT.indexOf('  \n') + 2;
const answerOf = (fields: Partial<CursorAnswer>): CursorAnswer => ({
  edits: [], answer: '', path: 'src/a.js', text: TEXT, offset: OFFSET, ...fields,
});
const editTo = (after: string, path = 'src/a.js') => ({ path, kind: 'modify' as const, before: TEXT, after });

describe('an answer at the cursor', () => {
  it('is what its edit inserts there', () => {
    expect(textAtCursor(answerOf({ edits: [editTo('function add(a, b) {\n  return a + b;\n}\n')] }))).toBe('return a + b;');
  });

  it('is none where the edit changes anything else, or another file', () => {
    expect(textAtCursor(answerOf({ edits: [editTo('function add(a, c) {\n  return a + c;\n}\n')] }))).toBeUndefined();
    expect(textAtCursor(answerOf({ edits: [editTo('function add(a, b) {\n}\n')] }))).toBeUndefined();
    expect(textAtCursor(answerOf({ edits: [editTo(`${TEXT}more();\n`)] }))).toBeUndefined();
    const inserting = 'function add(a, b) {\n  return a + b;\n}\n';
    expect(textAtCursor(answerOf({ edits: [editTo(inserting, 'src/b.js')] }))).toBeUndefined();
    expect(textAtCursor(answerOf({ edits: [editTo(inserting), editTo(inserting, 'src/b.js')] }))).toBeUndefined();
  });

  it('is its one block of code where it edits nothing', () => {
    expect(textAtCursor(answerOf({ answer: 'This adds:\n```js\nreturn a + b;\n```\n' }))).toBe('return a + b;');
    expect(textAtCursor(answerOf({ answer: 'Nothing to add.' }))).toBeUndefined();
    expect(textAtCursor(answerOf({ answer: '```js\na;\n```\nor\n```js\nb;\n```' }))).toBeUndefined();
  });
});
