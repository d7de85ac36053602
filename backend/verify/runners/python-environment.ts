import type { Dirent } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { PROGRAMS_OF_ENVIRONMENT } from './base-python.ts';
import { findEnvironment, NO_ENVIRONMENT, type PythonEnvironment } from './find-environment.ts';
import { isOwnFolder } from './project-folder.ts';
import { shellQuote } from '../sandbox/sandbox.ts';
import { simpleCommands, withEdits, type Edit } from './shell-words.ts';
import type { CommandInCopy, PreparedRun } from './test-runner.ts';
import { ReportError } from './test-report.ts';

/** Managers that run a command in the project's environment. Without a network they would fail to update it. */
const RUN_PREFIXES = ['uv', 'poetry', 'pipenv', 'pdm', 'rye'];

export interface PythonRun extends Omit<PreparedRun, 'readReport'> {
  /** Reads a report. Where there is none, the error says which Python was taken, too. */
  withPython<Report>(reading: () => Promise<Report>): Promise<Report>;
}

/**
 * Prepares Python to run in a copy. It uses the workspace's environment, has our modules on its path, and imports editable installs
 * (`pip install -e`) of the workspace from the copy. A project that is not installed is imported from its `src`. `pytestOptions` precede those of the command.
 * @param known what `environmentOf` found, where the caller has looked
 */
export async function pythonEnvironment(
  run: CommandInCopy,
  { modules, pytestOptions, known }: { readonly modules: Readonly<Record<string, string>>; readonly pytestOptions?: string; readonly known?: PythonEnvironment },
): Promise<PythonRun> {
  const folder = path.join(run.tools, 'python');
  const environment = known ?? (await environmentOf(run));
  const environmentFolder = environment?.folder;
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'sitecustomize.py'), siteCustomize(run, environmentFolder, await newModules(run)));
  for (const [name, text] of Object.entries(modules)) await writeFile(path.join(folder, `${name}.py`), text);
  const edits: Edit[] = [];
  for (const { assignments, words } of simpleCommands(run.command)) {
    for (const { text, start } of assignments) {
      // Our options first, then the command's.
      const [name = ''] = text.split('=', 1);
      const at = start + name.length + 1;
      if (name === 'PYTHONPATH') edits.push({ start: at, end: at, text: `${shellQuote(folder)}${path.delimiter}` });
      if (name === 'PYTEST_ADDOPTS' && pytestOptions) edits.push({ start: at, end: at, text: shellQuote(`${pytestOptions} `) });
    }
    const [manager, verb, program] = words;
    const isRun = manager && verb?.text === 'run' && RUN_PREFIXES.includes(manager.text);
    if (isRun && program && !program.text.startsWith('-') && environmentFolder)
      edits.push({ start: manager.start, end: program.start, text: '' });
  }
  return {
    command: withEdits(run.command, edits),
    environment: {
      PYTHONPATH: folder,
      // For `sitecustomize.py` below. It does not apply to Python programs that the tests start, nor to any where none of our modules ends it.
      ...(Object.keys(modules).length > 0 && { CONDUCTOR_RUNNER: '1' }),
      // Tests may print any text, and Python must not write into the copy.
      PYTHONIOENCODING: 'utf-8:backslashreplace',
      PYTHONDONTWRITEBYTECODE: '1',
      // The home folder is empty and belongs to this run. No state may pass from one run to the next.
      PYTHONNOUSERSITE: '1',
      ...(pytestOptions !== undefined && { PYTEST_ADDOPTS: pytestOptions }),
      ...(environmentFolder !== undefined && { VIRTUAL_ENV: environmentFolder }),
    },
    ...(environment && { programFolders: [path.join(environment.folder, PROGRAMS_OF_ENVIRONMENT)], readable: environment.readable }),
    withPython: async (reading) => {
      try {
        return await reading();
      } catch (error) {
        if (!(error instanceof ReportError)) throw error;
        const which = environment === undefined ? NO_ENVIRONMENT : `The Python of ${shown(environment.folder, run.workspace)} was taken.`;
        throw new ReportError(`${error.message} ${which}`, { cause: error });
      }
    },
  };
}

/** A folder of the workspace by its path from there, and another one as it is. */
function shown(folder: string, workspace: string): string {
  const relative = path.relative(workspace, folder);
  return relative.startsWith('..') ? folder : relative;
}

/** The environment for the folder in which the command runs. Throws as `findEnvironment`. */
export async function environmentOf({ command, workspace, python }: CommandInCopy): Promise<PythonEnvironment | undefined> {
  const [first] = simpleCommands(command);
  const folder = first?.words[0]?.text === 'cd' ? path.resolve(workspace, first.words[1]?.text ?? '') : workspace;
  const inside = path.relative(workspace, folder).startsWith('..') ? workspace : folder;
  return await findEnvironment({ inside, workspace, environment: process.env, python });
}

/** The names of modules that are only in the copy, at the root or one folder below. */
async function newModules({ copy, workspace }: CommandInCopy): Promise<readonly string[]> {
  const entriesOf = (folder: string): Promise<Dirent[]> => readdir(folder, { withFileTypes: true }).catch(() => []);
  const found = new Set<string>();
  const compare = async (relative: string): Promise<readonly Dirent[]> => {
    const known = new Set((await entriesOf(path.join(workspace, relative))).map(({ name }) => name));
    const entries = await entriesOf(path.join(copy, relative));
    for (const { name } of entries) {
      const module = /^([^.]+)(\.py|)$/.exec(name)?.[1];
      if (module !== undefined && !known.has(name)) found.add(module);
    }
    return entries.filter((entry) => entry.isDirectory() && isOwnFolder(entry.name));
  };
  for (const { name } of await compare('')) await compare(name);
  return [...found];
}

/**
 * Python runs this module at its start. It is first on the path, so a `sitecustomize` that a patch adds to the copy does not run. It runs
 * an installed one.
 */
const siteCustomize = (
  { workspace, shown: copy }: CommandInCopy,
  environmentFolder: string | undefined,
  added: readonly string[],
): string => `
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
    """Folders of the workspace in .pth files. Python skips them, because the workspace is hidden here."""
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
        # setuptools' finders for packages whose folder has another name.
        if name.startswith('__editable__') and isinstance(getattr(module, 'MAPPING', None), dict):
            for package, path in list(module.MAPPING.items()):
                module.MAPPING[package] = moved(path)


def add_source_folder():
    """'src', for a project that is not installed. It comes last, so it hides nothing that is."""
    folder = os.path.join(os.getcwd(), 'src')
    if inside(folder, COPY) and os.path.isdir(folder) and folder not in sys.path:
        sys.path.append(folder)


def run_installed_one():
    import importlib.util
    path = [entry for entry in sys.path if entry and os.path.abspath(entry) != OURS and not inside(os.path.realpath(entry), COPY)]
    spec = PathFinder.find_spec('sitecustomize', path)
    if spec and spec.loader:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


class OutsideFinder:
    """Finds modules with the given names outside the copy, if they exist there."""

    def __init__(self, names, purpose):
        self.names = names
        self.conductor = purpose

    def find_spec(self, name, path=None, target=None):
        if path is not None or name not in self.names:
            return None
        return PathFinder.find_spec(name, [entry for entry in sys.path if not inside(os.path.realpath(entry), COPY)])


def standard_modules():
    library = os.path.dirname(os.path.realpath(os.__file__))
    files = os.listdir(library)
    if 'lib-dynload' in files:
        files += os.listdir(os.path.join(library, 'lib-dynload'))
    return {name.split('.')[0] for name in files} - {'test'}


RUNNER = {
    'pytest', 'py', '_pytest', 'pluggy', 'iniconfig', 'packaging', 'pygments', 'attr', 'attrs', 'exceptiongroup', 'tomli',
    'colorama', 'importlib_metadata', 'zipp', 'typing_extensions', 'conductor_report', 'conductor_watch', 'conductor_unittest',
}

move_editable_installs()
add_source_folder()
# python -m searches the current folder first. A patch could put a module there that replaces one of Python or of the runner.
# Once the runner is loaded, the project's modules are found as usual, except those that a patch has added.
sys.meta_path.insert(0, OutsideFinder(set(${JSON.stringify(added)}), 'added'))
if os.environ.get('CONDUCTOR_RUNNER'):
    sys.meta_path.insert(0, OutsideFinder(standard_modules() | RUNNER, 'runner'))
run_installed_one()
`;
