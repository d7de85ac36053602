import { describe, expect, it } from 'vitest';
import { focusSchema } from '../../backend/protocol/run-request.ts';
import { focusOf, type Lines } from '../../extension/common/focus.ts';

const lines = (startLine: number, startCharacter: number, endLine: number, endCharacter: number): Lines =>
  ({ startLine, startCharacter, endLine, endCharacter });
const CURSOR = lines(4, 2, 4, 2);

describe('focusOf', () => {
  it('counts lines from 1 and includes both ends', () => {
    const editor = { path: 'src/a.ts', selection: lines(2, 4, 5, 1), visible: lines(0, 0, 40, 3) };
    const focus = focusOf({ editor, diagnostics: [] });
    expect(focus.selection).toEqual({ path: 'src/a.ts', startLine: 3, endLine: 6 });
    expect(focus.openFile).toEqual({ path: 'src/a.ts', startLine: 1, endLine: 41 });
  });

  it('leaves out the line in front of whose first character a selection ends', () => {
    expect(focusOf({ editor: { path: 'a.ts', selection: lines(2, 0, 3, 0) }, diagnostics: [] }).selection)
      .toEqual({ path: 'a.ts', startLine: 3, endLine: 3 });
  });

  it('takes a mere cursor for no selection', () => {
    expect(focusOf({ editor: { path: 'a.ts', selection: CURSOR }, diagnostics: [] })).not.toHaveProperty('selection');
  });

  it('says nothing of files when no editor is open', () => {
    expect(focusOf({ diagnostics: [] })).toEqual({ diagnostics: [] });
  });

  it('puts errors before warnings and the open file before others', () => {
    const at = (path: string, severity: 'error' | 'warning') => ({ path, severity, line: 0, message: `${severity} in ${path}` });
    const focus = focusOf({
      editor: { path: 'open.ts', selection: CURSOR },
      diagnostics: [at('other.ts', 'warning'), at('open.ts', 'warning'), at('other.ts', 'error'), at('open.ts', 'error')],
    });
    expect(focus.diagnostics.map(({ message }) => message)).toEqual([
      'error in open.ts', 'error in other.ts', 'warning in open.ts', 'warning in other.ts',
    ]);
  });

  it('stays within what the contract takes, however much is wrong', () => {
    const diagnostics = Array.from({ length: 1_000 }, (_, line) => ({
      path: 'a.ts', severity: 'error' as const, line, message: 'x'.repeat(100_000),
    }));
    const focus = focusOf({ diagnostics });
    expect(focus.diagnostics).toHaveLength(50);
    expect(focusSchema.safeParse(focus).success).toBe(true);
  });
});
