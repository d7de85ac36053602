import { describe, expect, it } from 'vitest';
import { checkWorkspacePath, isSameFile } from '../../backend/verify/files/workspace-path.ts';

const refused = (written: string, platform: NodeJS.Platform): boolean => checkWorkspacePath(written, platform).refused !== undefined;

describe('the path of an edit', () => {
  it.each(['C:x', 'C:\\x', 'c:/x', '\\\\server\\share\\x', '//server/share/x', '\\\\?\\C:\\x', 'a.txt:x', 'a.txt::$DATA', 'a./b', 'a.', 'a ', 'b/a .', 'GIT~1/config', 'a\\b', '..\\a', 'a/\u200bb'])(
    'is refused on all systems where Windows would take %j for something else',
    (written) => expect([refused(written, 'linux'), refused(written, 'win32')]).toEqual([true, true]),
  );

  it.each(['con', 'NUL', 'src/aux.c', 'Com1.txt', 'lpt9', 'com\u00b9', 'nul .txt', 'prn.tar.gz', 'CONIN$', 'a/con/b.js', 'what?.js', 'a*b', 'a"b', 'a|b', '<a>'])(
    'is refused on Windows alone where only Windows cannot have %j',
    (written) => expect([refused(written, 'linux'), refused(written, 'darwin'), refused(written, 'win32')]).toEqual([false, false, true]),
  );

  it.each(['src/[id].ts', 'console.js', 'nullable.ts', 'com.ts', 'com10.txt', 'src/auxiliary/a.c', 'a,b;c=d.js', 'ä.js', '.env.test'])('may be %j everywhere', (written) => {
    expect([refused(written, 'linux'), refused(written, 'win32')]).toEqual([false, false]);
  });

  it('names the same file as another one in another case, where file systems say so', () => {
    expect((['linux', 'darwin', 'win32'] as const).map((platform) => isSameFile('src/Sum.ts', 'src/sum.ts', platform))).toEqual([false, true, true]);
    expect(isSameFile('a\u0301.ts', '\u00e1.ts', 'darwin')).toBe(true);
    expect(isSameFile('a.ts', 'b.ts', 'win32')).toBe(false);
  });
});
