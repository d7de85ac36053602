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
  // A path that nobody stated stays so: this folder alone would take its place, and hide all other programs.
  const stated = Object.entries({ PATH: process.env.PATH, CONDUCTOR_USER_PATH: process.env.CONDUCTOR_USER_PATH }).filter(([, value]) => value);
  return Object.fromEntries(stated.map(([name, value]) => [name, `${path.dirname(python)}${path.delimiter}${value}`]));
}
