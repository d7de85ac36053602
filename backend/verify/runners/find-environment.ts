import { createHash } from 'node:crypto';
import { readdir, readFile, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { basePythonOf, PROGRAMS_OF_ENVIRONMENT, PYTHON_OF_ENVIRONMENT } from './base-python.ts';
import type { PersonPython } from '../../protocol/person-python.ts';
import { exists } from './project-folder.ts';

/** Where the usual tools make a project's environment, in the project itself. They come before folders with other names. */
const USUAL_FOLDERS: readonly string[] = ['.venv', 'venv', 'env', '.conda'];

/** A virtual environment or one of conda. All folders are absolute. */
export interface PythonEnvironment {
  readonly folder: string;
  /** What has to be readable for its Python to start. */
  readonly readable: readonly string[];
}

interface Search {
  /** The folder in which the command runs, in the workspace. */
  readonly inside: string;
  readonly workspace: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly python?: PersonPython | undefined;
}

/**
 * The environment with the project's packages: the one that the person chose for it, then the first in the folder of the command or in the
 * workspace, in which tox or nox runs the tests, that pipenv or Poetry keeps for this folder, or that is active in a shell of the person's.
 * @throws ReportError if the one in the project has lost its Python
 */
export async function findEnvironment({ inside, workspace, environment, python }: Search): Promise<PythonEnvironment | undefined> {
  if (python?.isChosen && (await isEnvironment(python.folder))) return await readableEnvironment(python.folder);
  const folders = inside === workspace ? [workspace] : [inside, workspace];
  for (const folder of folders) {
    for (const found of await foldersIn(folder)) {
      // A folder with another name may be some test's data: it counts only with its Python.
      if (await (USUAL_FOLDERS.includes(path.basename(found)) ? isMarked(found) : isEnvironment(found))) {
        return await readableEnvironment(found);
      }
    }
  }
  const elsewhere = [
    ...(await Promise.all(folders.map(environmentsForTests))).flat(),
    ...(await Promise.all(folders.map(pipenvEnvironment))),
    ...(await Promise.all(folders.map(poetryEnvironment))),
    python?.folder,
    environment['VIRTUAL_ENV'],
    environment['CONDA_PREFIX'],
  ];
  for (const folder of elsewhere) {
    if (folder === undefined || !(await isEnvironment(folder))) continue;
    return await readableEnvironment(folder);
  }
  return undefined;
}

const readableEnvironment = async (folder: string): Promise<PythonEnvironment> => ({ folder, readable: [folder, ...(await basePythonOf(folder))] });

/** What was looked for, where nothing was found: a sentence. */
export const NO_ENVIRONMENT =
  'There is no environment in the project, of tox, nox, pipenv or Poetry, and none is active: the Python of PATH was taken.';

/** The folders in which an environment may be, the likeliest first. */
async function foldersIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const names = entries.filter((entry) => entry.isDirectory() || entry.isSymbolicLink()).map(({ name }) => name).sort();
  return [...USUAL_FOLDERS, ...names.filter((name) => !USUAL_FOLDERS.includes(name))].map((name) => path.join(folder, name));
}

async function isEnvironment(folder: string): Promise<boolean> {
  return path.isAbsolute(folder) && (await exists(path.join(folder, PROGRAMS_OF_ENVIRONMENT, PYTHON_OF_ENVIRONMENT))) && (await isMarked(folder));
}

/** Whether the tools' mark is there. The Python may be gone. */
async function isMarked(folder: string): Promise<boolean> {
  return (await exists(path.join(folder, 'pyvenv.cfg'))) || (await exists(path.join(folder, 'conda-meta')));
}

/** tox and nox make an environment for each task, such as `py312`, `tests-3-12`, `lint`. Those for tests, of the newest Python first. */
async function environmentsForTests(folder: string): Promise<readonly string[]> {
  const found = await Promise.all(['.tox', '.nox'].map(async (tool) => (await readdir(path.join(folder, tool)).catch(() => [])).map((name) => path.join(folder, tool, name))));
  const isForTests = (name: string): boolean => /^(?:py|tests?|unit|coverage)(?![a-z])/.test(path.basename(name));
  return found.flat().filter(isForTests).sort((a, b) => b.localeCompare(a, 'en', { numeric: true }));
}

/** In each environment, pipenv writes down for which folder it is. */
async function pipenvEnvironment(folder: string): Promise<string | undefined> {
  const all = path.join(homedir(), '.local/share/virtualenvs');
  for (const name of await readdir(all).catch(() => [])) {
    const stated = await readFile(path.join(all, name, '.project'), 'utf8').catch(() => '');
    if (stated.trim() === folder) return path.join(all, name);
  }
  return undefined;
}

/** Poetry names an environment after the project, a hash of its folder and Python's version: `shop-Dx2mwyVp-py3.12`. The newest counts. */
async function poetryEnvironment(folder: string): Promise<string | undefined> {
  const real = await realpath(folder).catch(() => folder);
  const hash = createHash('sha256').update(real).digest('base64url').slice(0, 8);
  const all = path.join(homedir(), '.cache/pypoetry/virtualenvs');
  const versions = (await readdir(all).catch(() => [])).filter((name) => name.includes(`-${hash}-py3.`));
  const newest = versions.sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1);
  return newest === undefined ? undefined : path.join(all, newest);
}
