import { execFileSync } from 'node:child_process';
import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { tryProgram } from '../runners/setup.ts';

/** Makes the folder, with packages in its `.venv` and others in `elsewhere`, an absolute folder. @returns whether that could be done, and words for the names of tests */
export async function installPackages(folder: string, packages: readonly string[], elsewhere: Readonly<Record<string, string>> = {}): Promise<{ isHere: boolean; note: string }> {
  const python = tryProgram('python3', '-m', 'venv', '--help');
  if (!python.isHere) return python;
  await mkdir(folder);
  const run = (program: string, ...words: string[]): void => void execFileSync(program, words, { cwd: folder, stdio: 'ignore', timeout: 180_000 });
  try {
    run('python3', '-m', 'venv', '.venv');
    run('.venv/bin/python', '-m', 'pip', 'install', '--quiet', ...packages);
    for (const [name, target] of Object.entries(elsewhere)) run('.venv/bin/python', '-m', 'pip', 'install', '--quiet', '--target', target, name);
    return { isHere: true, note: 'by what pip has installed into .venv' };
  } catch {
    return { isHere: false, note: 'not tried, pip could not install here' };
  }
}

/** Removes all but the environment: installing it takes longer than all the rest. */
export async function removeAllButPackages(folder: string): Promise<void> {
  for (const name of await readdir(folder)) if (name !== '.venv') await rm(path.join(folder, name), { recursive: true });
}
