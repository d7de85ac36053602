import { describe, expect, it } from 'vitest';
import { unifiedDiff } from '../../backend/verify/patch/unified-diff.ts';
import { parseDiff } from '../../webview/parse-diff.ts';

describe('parseDiff', () => {
  it('reads what the backend writes', () => {
    const diff = unifiedDiff({ path: 'a.ts', kind: 'modify', before: 'one\ntwo\nthree\n', after: 'one\n2\nthree\nfour\n' });
    expect(parseDiff(diff)).toEqual({
      lines: [
        { kind: 'hunk', text: 'line 1' },
        { kind: 'same', text: 'one' },
        { kind: 'removed', text: 'two' },
        { kind: 'added', text: '2' },
        { kind: 'same', text: 'three' },
        { kind: 'added', text: 'four' },
      ],
      added: 2,
      removed: 1,
    });
  });

  it('reads a new file and a deleted one', () => {
    const created = unifiedDiff({ path: 'a', kind: 'create', before: null, after: 'x\ny' });
    const deleted = unifiedDiff({ path: 'a', kind: 'delete', before: 'x\n', after: null });
    expect(parseDiff(created)).toMatchObject({ added: 2, removed: 0 });
    expect(parseDiff(deleted)).toMatchObject({ added: 0, removed: 1 });
  });

  it('takes changed lines that look like file names for what they are', () => {
    const diff = unifiedDiff({ path: 'a.sql', kind: 'modify', before: '-- old\n', after: '++ new\n' });
    expect(parseDiff(diff).lines.slice(1)).toEqual([{ kind: 'removed', text: '-- old' }, { kind: 'added', text: '++ new' }]);
  });

  it('makes nothing of text that is no diff', () => {
    expect(parseDiff('no diff\n+ at all')).toEqual({ lines: [], added: 0, removed: 0 });
  });
});
