import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { familyNameOf } from '../../common/imports/language-families.ts';
import { baseOf, belongsToTests, folderOf, stemOf, type ProjectFiles } from './project.ts';
import { STANDARD_MODULES } from './python-standard-modules.ts';

/**
 * Why a new module of Python would be taken in the place of one that the tests or their runner import, as one sentence: Python searches the project's
 * folders before the standard library and what is installed.
 * @param installed the folder with the project's environment, absolute
 */
export function whyItShadows(file: string, { paths, text }: ProjectFiles, installed: string): string | undefined {
  if (familyNameOf(file) !== 'python') return undefined;
  const isPackage = baseOf(file) === '__init__.py';
  const name = isPackage ? baseOf(folderOf(file)) : stemOf(file);
  const folder = isPackage ? folderOf(folderOf(file)) : folderOf(file);
  if (name === '' || paths.has(folder === '' ? '__init__.py' : `${folder}/__init__.py`) || !isSearched(folder, { paths, text })) return undefined;
  if (STANDARD_MODULES.has(name)) return `It would take the place of the module ${name} of Python's standard library.`;
  if (isInstalled(name, installed)) return `It would take the place of the installed package ${name}.`;
  return undefined;
}

/** Whether Python may search a folder for modules: the usual ones, those with tests, and those whose modules are imported by their bare names. */
function isSearched(folder: string, { paths, text }: ProjectFiles): boolean {
  if (['', 'src', 'lib', 'python'].includes(folder)) return true;
  const beside = [...paths].filter((file) => file.endsWith('.py') && folderOf(file) === folder);
  if (beside.some(belongsToTests)) return true;
  const settings = ['pyproject.toml', 'pytest.ini', 'tox.ini', 'setup.cfg', '.pytest.ini'].map((file) => text(file) ?? '').join('\n');
  if (/\b(?:pythonpath|python_paths|package[-_]dir|where)\b/.test(settings) && settings.includes(folder)) return true;
  const names = beside.map(stemOf).filter((stem) => /^\w+$/.test(stem));
  if (names.length === 0) return [...paths].some((file) => file.startsWith(`${folder}/`) && /\/__init__\.py$/.test(file) && folderOf(folderOf(file)) === folder);
  const bare = new RegExp(`^\\s*(?:import|from)\\s+(?:${names.join('|')})\\b`, 'm');
  return [...paths].some((file) => file.endsWith('.py') && bare.test(text(file) ?? ''));
}

/** Where Debian and pip put packages. */
const SYSTEM_LIBRARIES = ['/usr/lib/python3', '/usr/lib', '/usr/local/lib'];

function isInstalled(name: string, installed: string): boolean {
  const environments = ['.venv', 'venv', 'env'].map((folder) => path.join(installed, folder, 'lib'));
  const folders = [...environments, ...SYSTEM_LIBRARIES].flatMap((library) => [
    path.join(library, 'dist-packages'),
    ...namesIn(library).filter((version) => /^python3\.\d+$/.test(version))
      .flatMap((version) => ['site-packages', 'dist-packages'].map((packages) => path.join(library, version, packages))),
  ]);
  return RUNNERS.has(name) || folders.some((folder) => existsSync(path.join(folder, name, '__init__.py')) || existsSync(path.join(folder, `${name}.py`)));
}

/** What runs tests, wherever it is installed. */
const RUNNERS = new Set(['pytest', '_pytest', 'py', 'pluggy', 'iniconfig', 'coverage', 'hypothesis', 'pytest_asyncio', 'xdist', 'pytest_mock', 'pytest_cov']);

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
