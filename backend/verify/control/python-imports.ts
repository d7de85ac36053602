import path from 'node:path';
import type { ImportedFile } from './source-test.ts';

/** Folders in which a project's packages may lie. */
const ROOTS = ['', 'src', 'lib'];

/** More are not looked at. */
const MAX_FILES = 20;

const IMPORT = /^from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n#]+)/gm;

/** The files of the project that a Python file takes names from. `paths` are those of the project; `read` gives the text of one. */
export async function importedFiles(
  file: string, text: string, paths: ReadonlySet<string>, read: (path: string) => Promise<string | undefined>,
): Promise<readonly ImportedFile[]> {
  const found = new Map<string, Map<string, string>>();
  for (const [, dots = '', module = '', list = ''] of text.matchAll(IMPORT)) {
    const place = candidates(path.posix.dirname(file), dots, module).find((candidate) => paths.has(candidate));
    if (place === undefined || place === file) continue;
    const names = found.get(place) ?? new Map<string, string>();
    found.set(place, names);
    for (const [, name = '', alias] of list.replaceAll(/#.*/g, '').matchAll(/(\w+)(?:[ \t]+as[ \t]+(\w+))?/g)) names.set(alias ?? name, name);
  }
  const files = await Promise.all([...found].slice(0, MAX_FILES).map(async ([place, names]) => ({ names, text: await read(place) })));
  return files.flatMap((imported) => (imported.text === undefined ? [] : [{ names: imported.names, text: imported.text }]));
}

/** The files that a module may be, the likelier first. */
function candidates(folder: string, dots: string, module: string): readonly string[] {
  const below = module.replaceAll('.', '/');
  const bases = dots === '' ? [...ROOTS, folder] : [path.posix.join(folder, ...Array.from({ length: dots.length - 1 }, () => '..'))];
  return bases.map((base) => path.posix.join(base, below)).flatMap((place) => [`${place}.py`, `${place}/__init__.py`]);
}
