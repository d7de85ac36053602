import { isPathOfTest } from '../files/protected-paths.ts';
import { baseOf, fileNamed, folderOf, stemOf, type ProjectImports } from './project.ts';

const ENTRY = /^(?:index|main|mod|cli|app|server|lib)$/;

/** The files that a project offers to others, as its manifests and the names of files say. */
export function entryPoints(imports: ProjectImports): (file: string) => boolean {
  const { files } = imports;
  const declared = new Set<string>();
  const packages = new Set(['', 'src', 'lib']);
  let pythonManifests = '';
  for (const file of files.paths) {
    const base = baseOf(file);
    if (/^(?:pyproject\.toml|setup\.cfg|setup\.py)$/.test(base)) pythonManifests += `${files.text(file) ?? ''}\n`;
    if (base !== 'package.json' || isPathOfTest(file)) continue;
    for (const inside of ['', 'src', 'lib']) packages.add([folderOf(file), inside].filter((part) => part !== '').join('/'));
    for (const written of entriesIn(files.text(file))) {
      const found = fileNamed(written, folderOf(file), imports) ?? fileNamed(written.replace(/^(?:\.\/)?(?:dist|lib|build|out|es[m]?|cjs)\//, 'src/').replace(/\.\w+$/, ''), folderOf(file), imports);
      if (found !== undefined) declared.add(found);
    }
  }
  return (file) => {
    if (declared.has(file)) return true;
    if (file.endsWith('.py')) return isPythonEntry(file, files.paths, pythonManifests);
    if (file.endsWith('.go')) return /^package main\b/m.test(files.text(file) ?? '');
    return ENTRY.test(stemOf(file)) && packages.has(folderOf(file));
  };
}

/** The head of a package, a program, and a module that a manifest names, as `package.module:name`. */
function isPythonEntry(file: string, paths: ReadonlySet<string>, manifests: string): boolean {
  const folder = folderOf(file);
  if (baseOf(file) === '__init__.py') return !paths.has(`${folderOf(folder)}/__init__.py`.replace(/^\//, ''));
  if (/^(?:__main__|manage|main|app|cli)\.py$/.test(baseOf(file))) return true;
  const dotted = file.replace(/^(?:src|lib)\//, '').replace(/\.py$/, '').replaceAll('/', '.');
  return new RegExp(`=\\s*["']?${dotted.replaceAll('.', '\\.')}\\s*(?::|["']|$)`, 'm').test(manifests);
}

function entriesIn(text: string | undefined): readonly string[] {
  try {
    const { main, module, browser, bin, exports, types, files } = JSON.parse(text ?? '{}') as Readonly<Record<string, unknown>>;
    return stringsIn([main, module, browser, bin, exports, types, files]);
  } catch {
    return [];
  }
}

function stringsIn(value: unknown, depth = 0): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null && depth < 8 ? Object.values(value).flatMap((part) => stringsIn(part, depth + 1)) : [];
}
