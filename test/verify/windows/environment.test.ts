import { expect, it } from 'vitest';
import { lineOf } from '../../../backend/verify/sandbox/windows/run-in-job.ts';
import { merged, windowsEnvironment } from '../../../backend/verify/sandbox/windows/windows-environment.ts';

const own = {
  SYSTEMROOT: 'C:\\Windows', comspec: 'C:\\Windows\\System32\\cmd.exe', Path: 'C:\\mine', OPENAI_API_KEY: 'secret', USERPROFILE: 'C:\\Users\\anna', APPDATA: 'C:\\Users\\anna\\AppData\\Roaming',
};
const temporary = 'D:\\runs\\1-abc\\temporary';

it('has the machine of ours, however it is spelled, and nothing of the person', () => {
  const environment = windowsEnvironment({ own, temporary, searchPath: ['C:\\node', 'C:\\git'], variables: { CI: 'true' } });
  expect(environment).toMatchObject({
    SystemRoot: 'C:\\Windows', ComSpec: 'C:\\Windows\\System32\\cmd.exe', PATH: 'C:\\node;C:\\git', CI: 'true',
    USERPROFILE: temporary, HOMEDRIVE: 'D:', HOMEPATH: '\\runs\\1-abc\\temporary', TEMP: temporary, APPDATA: `${temporary}\\AppData\\Roaming`,
  });
  expect(JSON.stringify(environment)).not.toMatch(/secret|anna|mine/);
  // libuv adds these from our own process where they are missing (`required_vars` in its src/win/process.c).
  for (const name of ['HOMEDRIVE', 'HOMEPATH', 'LOGONSERVER', 'PATH', 'TEMP', 'USERDOMAIN', 'USERNAME', 'USERPROFILE']) expect(environment).toHaveProperty(name);
});

it('has each name once, whatever its case: the last value counts', () => {
  expect(merged({ Path: 'a', x: '1', none: undefined }, { PATH: 'b' }, { X: '2' })).toEqual({ Path: 'b', x: '2' });
});

it('forbids the search in the current folder, where a patch could have put a program', () => {
  expect(windowsEnvironment({ own, temporary, searchPath: [], variables: {} })).toHaveProperty('NoDefaultCurrentDirectoryInExePath', '1');
});

it('comes with the line for the cmd.exe of the machine', () => {
  const command = { command: 'TZ=UTC node --test "$TMPDIR/a b"', cwd: 'D:\\runs\\1-abc\\workspace', temporary, searchPath: ['C:\\node'], variables: {} };
  expect(lineOf({ ...command, own })).toMatchObject({ comSpec: own.comspec, line: `(set ^"TZ=UTC^"&& node --test "${temporary}/a b")` });
  expect(lineOf({ ...command, own: {} }).comSpec).toBe('C:\\Windows\\System32\\cmd.exe');
});
