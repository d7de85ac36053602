import { readdir, readFile, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { exists } from './project-folder.ts';
import { ReportError } from './test-report.ts';

const MAX_CONFIGURATION_CHARACTERS = 10_000;

const IS_WINDOWS = process.platform === 'win32';
/** Of an environment: the folder of its programs (https://docs.python.org/3/library/venv.html). */
export const PROGRAMS_OF_ENVIRONMENT = IS_WINDOWS ? 'Scripts' : 'bin';
/** Its Python, from there. */
export const PYTHON_OF_ENVIRONMENT = IS_WINDOWS ? 'python.exe' : 'python';

/**
 * The folders of the Python that a virtual environment was made with. The environment has links to it, so it must be readable, wherever it
 * is: uv, pyenv and conda keep it in the home folder. The configuration is untrusted: a folder counts only if it is an installation of
 * Python. @throws ReportError if that Python is gone
 */
export async function basePythonOf(environment: string): Promise<readonly string[]> {
  const stated = await statedHome(environment);
  const program = path.join(environment, PROGRAMS_OF_ENVIRONMENT, PYTHON_OF_ENVIRONMENT);
  const linked = await realpath(program).catch(() => undefined);
  if (linked === undefined) {
    throw new ReportError(
      `The Python of ${path.basename(environment)} is gone${stated === undefined ? '' : `: it was in ${stated}`}. Make the environment again, `
      + `such as with "python3 -m venv --clear ${path.basename(environment)}", and install the project's packages.`,
    );
  }
  const folders = [stated, linked !== program ? path.dirname(linked) : undefined].filter((folder) => folder !== undefined);
  const found = new Set<string>();
  for (const folder of folders) {
    for (const bin of [folder, await realpath(folder).catch(() => folder)]) {
      const prefix = path.dirname(bin);
      if (path.basename(bin) === 'bin' && (await isInstallation(prefix))) found.add(prefix);
    }
  }
  return [...found];
}

/** What `home` in pyvenv.cfg says: the folder of the program that made the environment (https://docs.python.org/3/library/venv.html). */
async function statedHome(environment: string): Promise<string | undefined> {
  const text = await readFile(path.join(environment, 'pyvenv.cfg'), 'utf8').catch(() => '');
  const home = /^\s*home\s*=\s*(.+?)\s*$/m.exec(text.slice(0, MAX_CONFIGURATION_CHARACTERS))?.[1];
  return home !== undefined && path.isAbsolute(home) ? path.normalize(home) : undefined;
}

async function isInstallation(prefix: string): Promise<boolean> {
  const home = await realpath(homedir()).catch(homedir);
  if (!path.relative(prefix, home).startsWith('..')) return false;
  const libraries = await readdir(path.join(prefix, 'lib')).catch(() => []);
  for (const name of libraries) {
    if (/^(?:python|pypy)3\.\d+t?$/.test(name) && (await exists(path.join(prefix, 'lib', name, 'os.py')))) return true;
  }
  return false;
}
