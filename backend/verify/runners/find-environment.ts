import { createHash } from 'node:crypto';
import { readdir, readFile, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { basePythonOf } from './base-python.ts';
import { exists } from './project-folder.ts';

/** Where the usual tools make a project's environment, in the project itself. */
const ENVIRONMENT_FOLDERS: readonly string[] = ['.venv', 'venv', 'env'];

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
}

/**
 * The environment with the project's packages: in the folder of the command or in the workspace, then where pipenv and Poetry keep it for
 * this folder, then the one that is active in the person's shell. @throws ReportError if the one in the project has lost its Python
 */
export async function findEnvironment({ inside, workspace, environment }: Search): Promise<PythonEnvironment | undefined> {
  const folders = inside === workspace ? [workspace] : [inside, workspace];
  for (const folder of folders) {
    for (const name of ENVIRONMENT_FOLDERS) {
      const found = path.join(folder, name);
      if (await exists(path.join(found, 'pyvenv.cfg'))) return { folder: found, readable: [found, ...(await basePythonOf(found))] };
    }
  }
  const elsewhere = [
    ...(await Promise.all(folders.map(pipenvEnvironment))),
    ...(await Promise.all(folders.map(poetryEnvironment))),
    environment['VIRTUAL_ENV'],
    environment['CONDA_PREFIX'],
  ];
  for (const folder of elsewhere) {
    if (folder === undefined || !(await isEnvironment(folder))) continue;
    return { folder, readable: [folder, ...(await basePythonOf(folder))] };
  }
  return undefined;
}

/** What was looked for, where nothing was found: a sentence. */
export const NO_ENVIRONMENT =
  `There is no environment in ${ENVIRONMENT_FOLDERS.join(', ')}, of pipenv or of Poetry, and none is active: the Python of PATH was taken.`;

async function isEnvironment(folder: string): Promise<boolean> {
  if (!path.isAbsolute(folder) || !(await exists(path.join(folder, 'bin', 'python')))) return false;
  return (await exists(path.join(folder, 'pyvenv.cfg'))) || (await exists(path.join(folder, 'conda-meta')));
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
