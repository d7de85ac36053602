import path from 'node:path';
import { ID_SEPARATOR } from '../runners/test-report.ts';
import type { IdRoot } from '../runners/test-runner.ts';
import { readTextFile } from '../files/text-file.ts';
import { isPathOfTestSource } from '../files/protected-paths.ts';
import { refusalOnDisk } from '../files/workspace-path.ts';
import { pythonImports } from './python-imports.ts';
import type { TestsToAlter } from './tests-to-alter.ts';

/** A file with the ids of tests that it may contain, each with the test's name in that file. */
export interface FileOfTests {
  readonly file: string;
  readonly wanted: ReadonlyMap<string, string>;
}

interface Place {
  readonly file: string;
  readonly name: string;
}

/** Finds the source files of tests by their ids. */
export async function locateTests(tests: TestsToAlter): Promise<readonly FileOfTests[]> {
  const places = await PLACES[tests.runner.idRoot](tests);
  const files = new Map<string, Map<string, string>>();
  for (const id of tests.ids) {
    const [first = '', ...names] = id.split(ID_SEPARATOR);
    for (const { file, name } of places(first, names)) {
      if (!tests.paths.has(file)) continue;
      const wanted = files.get(file) ?? new Map<string, string>();
      files.set(file, wanted.set(id, name));
    }
  }
  return [...files].map(([file, wanted]) => ({ file, wanted }));
}

/** Maps the first part of an id and its other parts to places. */
type Places = (first: string, names: readonly string[]) => readonly Place[];

const PLACES: Readonly<Record<IdRoot, (tests: TestsToAlter) => Places | Promise<Places>>> = {
  'file': filePlaces,
  'go package': goPlaces,
  'cargo target': rustPlaces,
  'java class': javaPlaces,
  'no source': () => () => [],
};

/** `path > names`: the file itself, and where it is in Python, the files of tests from which it takes the outermost class or function, or a base of that class. */
async function filePlaces({ folder, paths, ids }: TestsToAlter): Promise<Places> {
  const files = [...new Set(ids.map((id) => id.split(ID_SEPARATOR)[0] ?? ''))].filter((file) => file.endsWith('.py') && paths.has(file));
  const taken = new Map(await Promise.all(files.map(async (file) => [file, await takenFrom(folder, file, paths)] as const)));
  return (first, names) => [{ file: first, name: names.join(ID_SEPARATOR) }, ...(taken.get(first)?.(names) ?? [])];
}

/** Where tests are that a Python file collects and another one defines. */
async function takenFrom(folder: string, file: string, paths: ReadonlySet<string>): Promise<(names: readonly string[]) => readonly Place[]> {
  const text = (await textOf(folder, file)) ?? '';
  const imports = [...pythonImports(file, text, paths)].filter(({ place }) => isPathOfTestSource(place)).map(({ place, names }) => ({ place, exported: new Map(names) }));
  return ([outer = '', ...inner]) => [outer, ...basesOf(outer, text)].flatMap((local) => imports.flatMap(({ place, exported }) => {
    const there = exported.get(local) ?? (exported.has('*') ? local : undefined);
    return there === undefined ? [] : [{ file: place, name: [there, ...inner].join(ID_SEPARATOR) }];
  }));
}

/** The names of a Python class's bases, as far as they are names. */
function basesOf(name: string, text: string): readonly string[] {
  const declared = [...text.matchAll(/^class[ \t]+(\w+)[ \t]*\(([^)]*)\)/gm)].findLast(([, declares]) => declares === name);
  return declared?.[2]?.split(',').map((base) => base.trim()).filter((base) => /^\w+$/.test(base)) ?? [];
}

/** `import/path > TestName`: any test file of the package. The folder of the module gives the folder of the package. */
async function goPlaces({ folder, paths }: TestsToAlter): Promise<Places> {
  const modules = new Map<string, string>();
  for (const file of namedFiles(paths, 'go.mod')) {
    const name = /^module\s+"?([^\s"]+)/m.exec((await textOf(folder, file)) ?? '')?.[1];
    if (name !== undefined) modules.set(name, path.posix.dirname(file));
  }
  const files = [...paths].filter((file) => file.endsWith('_test.go'));
  return (first, names) => {
    const inModule = [...modules].filter(([name]) => first === name || first.startsWith(`${name}/`));
    const [name, base] = inModule.sort(([a], [b]) => b.length - a.length)[0] ?? [];
    if (name === undefined || base === undefined) return [];
    const wanted = path.posix.join(base, first.slice(name.length));
    const inPackage = files.filter((file) => path.posix.join(path.posix.dirname(file)) === path.posix.join(wanted));
    return inPackage.map((file) => ({ file, name: names.join(ID_SEPARATOR) }));
  };
}

/** `package > test name > module::test`. Library tests have no target. nextest joins package and target with `::`. */
async function rustPlaces({ folder, paths }: TestsToAlter): Promise<Places> {
  const packages = new Map<string, string>();
  for (const file of namedFiles(paths, 'Cargo.toml')) {
    const name = /^\[package\][^[]*?^name\s*=\s*["']([\w-]+)["']/ms.exec((await textOf(folder, file)) ?? '')?.[1];
    if (name !== undefined) packages.set(name, path.posix.dirname(file));
  }
  const files = [...paths].filter((file) => file.endsWith('.rs'));
  return (first, names) => {
    const [packageName = '', nextestTarget] = first.split('::');
    const base = packages.get(packageName);
    const test = names.at(-1);
    if (base === undefined || test === undefined) return [];
    const target = nextestTarget ?? (names.length > 1 ? names[0] : undefined)?.replace(/^(?:test|bench|example) /, '').replace(/^bin /, 'bin/');
    const isBinary = target?.startsWith('bin/') ?? false;
    const root = target === undefined || isBinary ? 'src' : 'tests';
    return files.flatMap((file) => {
      const relative = path.posix.relative(path.posix.join(base, root), file);
      if (relative.startsWith('..')) return [];
      const module = moduleOf(relative, target?.replace(/^bin\//, ''));
      if (module === '') return [{ file, name: test }];
      return test.startsWith(`${module}::`) ? [{ file, name: test.slice(module.length + 2) }] : [];
    });
  };
}

/** `parser/lexer.rs`: parser::lexer. Empty for the root of a target. */
function moduleOf(relative: string, target: string | undefined): string {
  const parts = relative.replace(/\.rs$/, '').replace(/(^|\/)mod$/, '').split('/').filter((part) => part !== '' && part !== 'bin');
  if (parts[0] === target) parts.shift();
  if (parts.length === 1 && /^(?:lib|main)$/.test(parts[0] ?? '')) parts.shift();
  return parts.join('::');
}

/** `package.Class > method`, in a file with the name of the class. */
function javaPlaces({ paths }: TestsToAlter): Places {
  const files = [...paths].filter((file) => file.endsWith('.java'));
  return (first, names) => {
    const [outer = '', ...nested] = first.split('$');
    const ending = `${outer.replaceAll('.', '/')}.java`;
    return files
      .filter((file) => file === ending || file.endsWith(`/${ending}`))
      .map((file) => ({ file, name: [...nested, ...names].join(ID_SEPARATOR) }));
  };
}

const MAX_MANIFESTS = 500;

const namedFiles = (paths: ReadonlySet<string>, name: string): readonly string[] =>
  [...paths].filter((file) => path.posix.basename(file) === name).slice(0, MAX_MANIFESTS);

async function textOf(folder: string, file: string): Promise<string | undefined> {
  if ((await refusalOnDisk(folder, file)) !== undefined) return undefined;
  const found = await readTextFile(folder, file);
  return found.kind === 'text' ? found.text : undefined;
}
