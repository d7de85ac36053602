import { describe, expect, it } from 'vitest';
import { descriptionOf } from '../../../backend/train/tasks/commit-message.ts';
import type { FileEdit } from '../../../backend/verify/patch/patch.ts';

/** Undoes a commit that has added a line. */
const EDITS: readonly FileEdit[] = [
  { path: 'a.js', kind: 'modify', before: 'let a = 1;\n  if (list.length === 0) return undefined;\n}\n', after: 'let a = 1;\n}\n' },
];
const said = (message: string): string => descriptionOf(message, EDITS);

describe('what a commit says of its change', () => {
  it('is its message, without who had to do with it', () => {
    expect(said('fix: the last of nothing\n\nIt threw.\n\n- once\n  twice\n\nSigned-off-by: Ada <ada@example.org>\nFixes: 12\n')).toBe(
      'fix: the last of nothing\n\nIt threw.\n\n- once\n  twice');
    expect(said('Fix\n\nCo-authored-by: Ada <ada@example.org>\n\nIt threw.\n(cherry picked from commit 1234567)')).toBe('Fix\n\nIt threw.');
    expect(said('Note: this is no trailer')).toBe('Note: this is no trailer');
    expect(said('fixup! squash! Fix it')).toBe('Fix it');
  });

  it.each([
    ['Find the last of nothing (#12)', 'Find the last of nothing'],
    ['[AB-12] Find the last', 'Find the last'],
    ['AB-12: Find the last', 'Find the last'],
    ['Fix #12: find the last', 'find the last'],
    ['Find the last\n\nCloses #1, #2 and ada/list#3.', 'Find the last'],
    ['Find the last, see https://example.org/issues/1?a=b#c', 'Find the last, see'],
    ['Find the last (https://example.org/1)', 'Find the last'],
    ['Read UTF-8 and C#, 3#4', 'Read UTF-8 and C#, 3#4'],
  ])('has no links and no numbers of issues: %j', (message, description) => expect(said(message)).toBe(description));

  it.each([
    ['a line of it', 'Fix it\n\nNow `if (list.length === 0)  return undefined;` stands there.\nIt is short.', 'Fix it\n\nIt is short.'],
    ['a block of code', 'Fix it\n\n```js\nreturn 1\n```\nDone.\n~~~\nopen', 'Fix it\n\nDone.'],
    ['indented code', 'Fix it\n\n    return 1\n\treturn 2\nDone.', 'Fix it\n\nDone.'],
    ['added lines', 'Fix it\n\n-  return 0\n+  return 1', 'Fix it\n\n-  return 0'],
    ['a diff', 'Fix it\n\ndiff --git a/a.js b/a.js\n--- a/a.js\nreturn 1', 'Fix it'],
    ['a part of a diff', 'Fix it\n\n@@ -1 +1 @@\nreturn 1', 'Fix it'],
  ])('does not give it away by %s', (_what, message, description) => expect(said(message)).toBe(description));

  it('is plain lines of no great length', () => {
    expect(said('Fix\r\nit\u2028now\u202e\u0007\u0000 please')).toBe('Fix\nit\nnow please');
    expect(said(`Fix it\n\n${'word '.repeat(1_000)}`)).toMatch(/^Fix it\n\n(word ){198}…$/);
  });

  it('may be nothing', () => expect(said('#12\n\nhttps://example.org\n')).toBe(''));
});
