import path from 'node:path';
import { familyNameOf } from './language-families.ts';

const SCRIPT_ENDINGS = ['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs', '.d.ts', '.vue', '.svelte', '.json'];
/** Where the source of a package is, if its name is imported. */
const PACKAGE_ENTRIES = ['src/index', 'index', 'lib/index', 'src/main', 'source/index'];
/** A package of Go or a wildcard import means a folder; more files than this would say nothing. */
const MAX_FILES = 40;

export interface ProjectShape {
  readonly has: (file: string) => boolean;
  /** The files with this name, in any folder. */
  readonly named: (name: string) => readonly string[];
  /** The files that lie directly in a folder; '' is the root. */
  readonly inFolder: (folder: string) => readonly string[];
  /** Folders of the packages of this project by name, from package.json, and of modules by path, from go.mod. */
  readonly packages: ReadonlyMap<string, string>;
}

/** The files of the project that an import means: none for a package that is installed. */
export function filesImported(importer: string, from: string, project: ProjectShape): readonly string[] {
  switch (familyNameOf(importer)) {
    case 'script': return scriptFile(importer, from, project);
    case 'python': return pythonFiles(importer, from, project);
    case 'go': return goFiles(from, project);
    case 'rust': return rustFiles(importer, from, project);
    case 'jvm': return byEnd(from.replace(/^package:[\w-]+\//, '').replace(/\.(?=\w)/g, '/'), path.posix.extname(importer).slice(1).toLowerCase(), project);
    case 'php': return from.includes('\\') ? byEnd(from.replaceAll('\\', '/'), 'php', project) : relativeOrEnd(importer, from, '', project);
    case 'c': return relativeOrEnd(importer, from, '', project);
    case 'ruby': return relativeOrEnd(importer, from, '.rb', project);
    case 'lua': return byEnd(from.replaceAll('.', '/'), 'lua', project);
    default: return [];
  }
}

function scriptFile(importer: string, from: string, project: ProjectShape): readonly string[] {
  const bare = from.replace(/[?#].*$/, '');
  if (bare.startsWith('.')) return firstOf(scriptPaths(path.posix.join(path.posix.dirname(importer), bare)), project);
  const parts = bare.split('/');
  for (let length = Math.min(parts.length, 2); length > 0; length -= 1) {
    const folder = project.packages.get(parts.slice(0, length).join('/'));
    if (folder === undefined) continue;
    const inside = parts.slice(length).join('/');
    const entries = inside === '' ? PACKAGE_ENTRIES : [inside, `src/${inside}`, inside.replace(/^(?:lib|dist|build)\//, 'src/')];
    return firstOf(entries.flatMap((entry) => scriptPaths(path.posix.join(folder, entry))), project);
  }
  // An alias such as `@/a/b` or `~/a/b`: the end of a path that only one file has.
  const aliased = /^(?:@|~|src|#)\/(.+)$/.exec(bare)?.[1];
  if (aliased === undefined) return [];
  const found = SCRIPT_ENDINGS.flatMap((ending) => endingWith(`${aliased}${ending}`, project));
  return found.length === 1 ? found : [];
}

function scriptPaths(base: string): string[] {
  // TypeScript imports `a.ts` as `a.js`.
  const source = base.replace(/\.([mc]?)js(x?)$/, '.$1ts$2');
  return [source, ...(source === base ? [] : [`${base.replace(/\.jsx?$/, '')}.tsx`]), base,
    ...SCRIPT_ENDINGS.map((ending) => base + ending), ...SCRIPT_ENDINGS.map((ending) => `${base}/index${ending}`)];
}

function pythonFiles(importer: string, from: string, project: ProjectShape): readonly string[] {
  const dots = /^\.*/.exec(from)?.[0].length ?? 0;
  const inside = from.slice(dots).replaceAll('.', '/');
  if (dots > 0) {
    let folder = path.posix.dirname(importer);
    for (let level = 1; level < dots; level += 1) folder = path.posix.dirname(folder);
    return firstOf(pythonPaths(path.posix.join(folder, inside)), project);
  }
  const beside = path.posix.join(path.posix.dirname(importer), inside);
  const found = firstOf([...pythonPaths(inside), ...pythonPaths(`src/${inside}`), ...pythonPaths(`lib/${inside}`)], project);
  if (found.length > 0) return found;
  return inside.includes('/') ? byEnd(inside, 'py', project) : firstOf(pythonPaths(beside), project);
}

function pythonPaths(base: string): string[] {
  return [`${base}.py`, `${base}/__init__.py`, `${base}.pyi`, `${base}.pyx`];
}

function goFiles(from: string, project: ProjectShape): readonly string[] {
  for (let module = from; module !== '.'; module = path.posix.dirname(module)) {
    const folder = project.packages.get(module);
    if (folder === undefined) continue;
    const inside = path.posix.join(folder, from.slice(module.length + 1));
    return project.inFolder(inside === '.' ? '' : inside)
      .filter((file) => file.endsWith('.go') && !file.endsWith('_test.go')).slice(0, MAX_FILES);
  }
  return [];
}

function rustFiles(importer: string, from: string, project: ProjectShape): readonly string[] {
  const segments = from.split('::').map((segment) => segment.trim());
  const inSource = /^(.*?)(?:^|\/)src\//.exec(importer);
  const ownFolder = /(?:^|\/)(?:mod|lib|main)\.rs$/.test(importer) ? path.posix.dirname(importer) : importer.replace(/\.rs$/, '');
  const [first = '', ...rest] = segments;
  const crate = inSource ? path.posix.join(inSource[1] ?? '', 'src') : path.posix.dirname(importer);
  let base: string;
  let names = rest;
  if (first === 'crate') base = crate;
  else if (first === 'self') base = ownFolder;
  else if (first === 'super') {
    base = path.posix.dirname(ownFolder);
    while (names[0] === 'super') {
      base = path.posix.dirname(base);
      names = names.slice(1);
    }
  } else {
    const folder = project.packages.get(first) ?? project.packages.get(first.replaceAll('_', '-'));
    base = folder === undefined ? ownFolder : path.posix.join(folder, 'src');
    if (folder === undefined) names = segments;
  }
  for (let length = names.length; length > 0; length -= 1) {
    const inside = path.posix.join(base, ...names.slice(0, length));
    const found = firstOf([`${inside}.rs`, `${inside}/mod.rs`], project);
    if (found.length > 0) return found;
  }
  return names.length > 0 && first !== 'crate' ? [] : firstOf([`${base}/lib.rs`, `${base}/main.rs`, `${base}/mod.rs`], project);
}

function relativeOrEnd(importer: string, from: string, ending: string, project: ProjectShape): readonly string[] {
  const name = from.endsWith(ending) ? from : from + ending;
  const beside = firstOf([path.posix.join(path.posix.dirname(importer), name)], project);
  return beside.length > 0 ? beside : endingWith(name.replace(/^(?:\.\.?\/)+/, ''), project).slice(0, 1);
}

function byEnd(end: string, extension: string, project: ProjectShape): readonly string[] {
  if (end.endsWith('/*')) return [];
  const found = endingWith(`${end}.${extension}`, project);
  return found.length > 0 ? found.slice(0, 1) : endingWith(`${end}/__init__.${extension}`, project).slice(0, 1);
}

function endingWith(end: string, project: ProjectShape): readonly string[] {
  return project.named(path.posix.basename(end)).filter((file) => file === end || file.endsWith(`/${end}`));
}

function firstOf(paths: readonly string[], project: ProjectShape): readonly string[] {
  const found = paths.map((one) => path.posix.normalize(one)).find((one) => project.has(one));
  return found === undefined ? [] : [found];
}
