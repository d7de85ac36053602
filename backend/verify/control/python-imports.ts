import path from 'node:path';
import type { Import } from './imported-files.ts';

/** Folders in which a project's packages may lie. */
const ROOTS = ['', 'src', 'lib'];

const IMPORT = /^from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n#]+)/gm;

/** What a Python file takes from others of the project. */
export function* pythonImports(file: string, text: string, paths: ReadonlySet<string>): Generator<Import> {
  for (const [, dots = '', module = '', list = ''] of text.matchAll(IMPORT)) {
    const place = candidates(path.posix.dirname(file), dots, module).find((candidate) => paths.has(candidate));
    if (place !== undefined && place !== file) yield { place, names: namesIn(list) };
  }
}

/** Of `import *`, the name is `*`. */
function* namesIn(list: string): Generator<readonly [local: string, exported: string]> {
  if (list.trim() === '*') yield ['*', '*'];
  for (const [, name = '', alias] of list.replaceAll(/#.*/g, '').matchAll(/(\w+)(?:[ \t]+as[ \t]+(\w+))?/g)) yield [alias ?? name, name];
}

/** The files that a module may be, the likelier first. */
function candidates(folder: string, dots: string, module: string): readonly string[] {
  const below = module.replaceAll('.', '/');
  const bases = dots === '' ? [...ROOTS, folder] : [path.posix.join(folder, ...Array.from({ length: dots.length - 1 }, () => '..'))];
  return bases.map((base) => path.posix.join(base, below)).flatMap((place) => [`${place}.py`, `${place}/__init__.py`]);
}
