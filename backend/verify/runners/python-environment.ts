import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { exists } from './project-folder.ts';
import { shellQuote } from '../sandbox.ts';
import { simpleCommands, withEdits, type Edit } from './shell-words.ts';
import type { PreparedRun, RunToPrepare } from './test-runner.ts';

const ENVIRONMENT_FOLDERS = ['.venv', 'venv', 'env'];

/** Managers that put the project's environment in front of a command: without a network they could only fail to update it. */
const RUN_PREFIXES = ['uv', 'poetry', 'pipenv', 'pdm', 'rye'];

/**
 * What Python needs to run in a copy: the environment that is installed in the workspace, our modules on its path, and packages
 * that were installed from the workspace (`pip install -e`) taken from the copy.
 */
export async function pythonEnvironment(
  run: RunToPrepare,
  modules: Readonly<Record<string, string>>,
): Promise<Omit<PreparedRun, 'readReport'>> {
  const folder = path.join(run.tools, 'python');
  const environmentFolder = await environmentOf(run);
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'sitecustomize.py'), siteCustomize(run, environmentFolder));
  for (const [name, text] of Object.entries(modules)) await writeFile(path.join(folder, `${name}.py`), text);
  const edits: Edit[] = [];
  for (const { assignments, words } of simpleCommands(run.command)) {
    for (const { text, start } of assignments) {
      // Ours first, and then what the command says.
      const [name = ''] = text.split('=', 1);
      const at = start + name.length + 1;
      if (name === 'PYTHONPATH') edits.push({ start: at, end: at, text: `${shellQuote(folder)}:` });
      if (name === 'PYTEST_ADDOPTS') edits.push({ start: at, end: at, text: `${shellQuote(`${PYTEST_OPTIONS} `)}` });
    }
    const [manager, verb, program] = words;
    const isPrefix = manager && verb?.text === 'run' && program && !program.text.startsWith('-') && RUN_PREFIXES.includes(manager.text);
    if (isPrefix && environmentFolder) edits.push({ start: manager.start, end: program.start, text: '' });
  }
  return {
    command: withEdits(run.command, edits),
    environment: {
      PYTHONPATH: folder,
      // For `sitecustomize.py` below; what Python programs the tests start is none of its business.
      CONDUCTOR_RUNNER: '1',
      // What tests print may hold anything, and the copy is to stay as it is.
      PYTHONIOENCODING: 'utf-8:backslashreplace',
      PYTHONDONTWRITEBYTECODE: '1',
      ...(environmentFolder !== undefined && { VIRTUAL_ENV: environmentFolder }),
    },
    ...(environmentFolder !== undefined && {
      programFolders: [path.join(environmentFolder, 'bin')],
      readable: [environmentFolder],
    }),
  };
}

/** Loads our plugin, whatever starts pytest. */
export const PYTEST_OPTIONS = '-p conductor_report';

/** The environment nearest to where the command runs. */
async function environmentOf({ command, workspace }: RunToPrepare): Promise<string | undefined> {
  const [first] = simpleCommands(command);
  const inside = first?.words[0]?.text === 'cd' ? path.resolve(workspace, first.words[1]?.text ?? '') : workspace;
  for (const folder of [inside, workspace]) {
    if (path.relative(workspace, folder).startsWith('..')) continue;
    for (const name of ENVIRONMENT_FOLDERS) {
      const environment = path.join(folder, name);
      if (await exists(path.join(environment, 'pyvenv.cfg'))) return environment;
    }
  }
  return undefined;
}

/**
 * Python runs this module before anything else. Ours comes first on the path, so one that a patch has put into the copy does not
 * run; one that is installed does.
 */
const siteCustomize = ({ workspace, copy }: RunToPrepare, environmentFolder: string | undefined): string => `
import os
import sys
from importlib.machinery import PathFinder

OURS = os.path.dirname(os.path.abspath(__file__))
WORKSPACE, COPY, ENVIRONMENT = ${[workspace, copy, environmentFolder ?? ''].map((text) => JSON.stringify(text)).join(', ')}


def inside(path, folder):
    return folder != '' and (path == folder or path.startswith(folder + os.sep))


def moved(path):
    """The same place in the copy, for a path into the workspace."""
    if inside(path, WORKSPACE) and not inside(path, ENVIRONMENT):
        return COPY + path[len(WORKSPACE):]
    return path


def editable_paths():
    """Python leaves out what .pth files name and is not there, and the workspace is hidden."""
    for folder in list(sys.path):
        try:
            names = sorted(name for name in os.listdir(folder) if name.endswith(('.pth', '.egg-link')))
        except OSError:
            continue
        if inside(os.path.realpath(folder), COPY):
            continue
        for name in names:
            try:
                with open(os.path.join(folder, name), encoding='utf-8', errors='replace') as lines:
                    for line in lines:
                        line = line.strip()
                        if os.path.isabs(line) and moved(line) != line:
                            yield moved(line)
            except OSError:
                continue


def move_editable_installs():
    found = [moved(path) for path in sys.path]
    found += [path for path in editable_paths() if path not in found]
    sys.path[:] = found
    for name, module in list(sys.modules.items()):
        # setuptools' finders for packages whose folder is not named as they are.
        if name.startswith('__editable__') and isinstance(getattr(module, 'MAPPING', None), dict):
            for package, path in list(module.MAPPING.items()):
                module.MAPPING[package] = moved(path)


def run_installed_one():
    import importlib.util
    path = [entry for entry in sys.path if entry and os.path.abspath(entry) != OURS and not inside(os.path.realpath(entry), COPY)]
    spec = PathFinder.find_spec('sitecustomize', path)
    if spec and spec.loader:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


class RunnerFinder:
    """
    Finds Python's own modules and those of the runner outside the copy, until the runner is loaded: python -m looks into the current
    folder first, and what a patch puts there under the name of one of them would be the judge.
    """
    conductor = True

    def __init__(self):
        library = os.path.dirname(os.path.realpath(os.__file__))
        files = os.listdir(library)
        if 'lib-dynload' in files:
            files += os.listdir(os.path.join(library, 'lib-dynload'))
        self.names = {name.split('.')[0] for name in files} - {'test'} | RUNNER

    def find_spec(self, name, path=None, target=None):
        if path is not None or (name not in self.names and not name.startswith('conductor_')):
            return None
        return PathFinder.find_spec(name, [entry for entry in sys.path if not inside(os.path.realpath(entry), COPY)])


RUNNER = {
    'pytest', 'py', '_pytest', 'pluggy', 'iniconfig', 'packaging', 'pygments', 'attr', 'attrs', 'exceptiongroup', 'tomli', 'colorama',
    'importlib_metadata', 'zipp', 'typing_extensions',
}

move_editable_installs()
if os.environ.get('CONDUCTOR_RUNNER'):
    sys.meta_path.insert(0, RunnerFinder())
run_installed_one()
`;
