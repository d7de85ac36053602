import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';

/**
 * Search paths that begin with the folder of the Python that `python3` starts, where `python3` is a script of pyenv, asdf or mise: hundreds of
 * runs would start the script, which takes longer than Python itself. That tests are judged where such scripts are on PATH is tested in
 * `verify/tools`, with scripts of its own.
 */
export function pathsOfPythonItself(): Record<string, string> {
  const first = (process.env.PATH ?? '').split(path.delimiter).find((folder) => existsSync(path.join(folder, 'python3')));
  if (first === undefined || path.basename(first) !== 'shims') return {};
  const python = execFileSync(path.join(first, 'python3'), ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' }).trim();
  const begun = (name: string): string => [path.dirname(python), process.env[name]].filter(Boolean).join(path.delimiter);
  return { PATH: begun('PATH'), CONDUCTOR_USER_PATH: begun('CONDUCTOR_USER_PATH') };
}
