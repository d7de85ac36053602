import path from 'node:path';
import { escapeRegExp } from '../../common/escape-regexp.ts';
import { listed } from '../../common/listed.ts';
import type { SnapshotFiles } from '../copies/copy-pool.ts';
import { protectedReason } from '../files/protected-paths.ts';
import type { Imports } from '../runners/test-report.ts';
import { languageOf } from '../syntax/language.ts';

/** A package or module of a Python project that its tests import from where it is installed. No change of it is tested. */
export interface Elsewhere {
  readonly name: string;
  /** Its sources: `src/pluggy` or `six.py`. */
  readonly sources: string;
  /** The folder it is imported from, absolute. */
  readonly from: string;
}

/** The tests run, but import no source of the project. The message says what to do. */
export class NothingTestedError extends Error {
  override readonly name = 'NothingTestedError';
}

const SOURCE_FOLDERS = new Set(['', 'src', 'lib', 'python']);
const MANIFESTS = ['pyproject.toml', 'setup.py', 'setup.cfg'];

type Files = Pick<SnapshotFiles, 'paths' | 'text'>;

/** Those of which a test names the module and no file of the project was imported. */
export function importedElsewhere({ own, elsewhere }: Imports, { paths, text }: Files): readonly Elsewhere[] {
  const tests = [...own].filter(isTest);
  const isNamed = (name: string): boolean => {
    const line = new RegExp(`^\\s*(?:import|from)\\s+(?:[\\w.]+\\s*,\\s*)*${escapeRegExp(name)}\\b`, 'm');
    return tests.some((test) => line.test(text(test) ?? ''));
  };
  return [...elsewhere].flatMap(([name, file]) => {
    const sources = sourcesOf(name, paths);
    if (sources === undefined || [...own].some((one) => isIn(one, sources)) || !isNamed(name)) return [];
    return [{ name, sources, from: path.dirname(file) }];
  });
}

/** Why the tests can judge no change at all: what they import of the project is installed. Undefined if they import sources of it as well. */
export function testsNoSource(found: readonly Elsewhere[], { own }: Imports): string | undefined {
  const besideTests = new Set([...own].filter(isTest).map(folderOf).filter((folder) => !SOURCE_FOLDERS.has(folder)));
  const isSource = (file: string): boolean => !isTest(file) && !besideTests.has(folderOf(file));
  return found.length === 0 || [...own].some(isSource) ? undefined : told(found);
}

/** Why the tests cannot judge a change of these files. Undefined if one of them is code that they may import. */
export function testsNoneOf(found: readonly Elsewhere[], changed: readonly string[]): string | undefined {
  const code = changed.filter((file) => languageOf(file) !== undefined);
  const untested = found.filter(({ sources }) => code.some((file) => isIn(file, sources)));
  return untested.length > 0 && code.every((file) => untested.some(({ sources }) => isIn(file, sources))) ? told(untested) : undefined;
}

function told(found: readonly Elsewhere[]): string {
  const [{ from = '' } = {}] = found;
  const names = listed(found.map(({ name }) => name));
  return `The tests import ${names} from ${from}, not from ${listed(found.map(({ sources }) => sources))}, so that they test no change of it. `
    + 'Install the project so that its sources are imported, for example with "pip install -e .".';
}

/** Where a project keeps the sources of a module. */
function sourcesOf(name: string, paths: ReadonlySet<string>): string | undefined {
  const ends = [`${name}/__init__.py`, `${name}.py`];
  const found = [...paths].find((file) => ends.some((end) => isAt(file, end, paths)) && !isTest(file));
  return found?.replace(/\/__init__\.py$/, '');
}

function isAt(file: string, end: string, paths: ReadonlySet<string>): boolean {
  if (file !== end && !file.endsWith(`/${end}`)) return false;
  const folder = file.slice(0, -end.length - 1);
  return SOURCE_FOLDERS.has(path.posix.basename(folder)) || MANIFESTS.some((manifest) => paths.has(`${folder}/${manifest}`));
}

const isTest = (file: string): boolean => protectedReason(file) !== undefined;
const isIn = (file: string, sources: string): boolean => file === sources || file.startsWith(`${sources}/`);
const folderOf = (file: string): string => (file.includes('/') ? path.posix.dirname(file) : '');
