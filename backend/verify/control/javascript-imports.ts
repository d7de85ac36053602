import { filesImported } from '../../common/imports/resolve-import.ts';
import { languageOf } from '../syntax/language.ts';
import type { ImportedFile } from './source-test.ts';

/** More are not looked at. */
const MAX_FILES = 20;

const IMPORT = /\bimport\s+(?!type\b)([\w$*{},\s]{1,2000}?)\s+from\s*['"](\.[^'"\n]{1,300})['"]/g;
const REQUIRE = /\b(?:const|let|var)\s+(\{[^{}=]{0,2000}\}|\w+)\s*=\s*require\(\s*['"](\.[^'"\n]{1,300})['"]\s*\)/g;

/**
 * The files of the project that a file takes functions from, in the same language. `paths` are those of the project; `read` gives the text of one.
 * What stands for all that a file exports has `.*` behind its name.
 */
export async function importedScripts(
  file: string, text: string, paths: ReadonlySet<string>, read: (path: string) => Promise<string | undefined>,
): Promise<readonly ImportedFile[]> {
  const found = new Map<string, Map<string, string>>();
  const shape = { has: (path: string) => paths.has(path), named: () => [], inFolder: () => [], packages: new Map<string, string>() };
  const language = languageOf(file);
  for (const [pattern, between] of [[IMPORT, /\bas\b/], [REQUIRE, /:/]] as const)
    for (const [, list = '', from = ''] of text.matchAll(pattern)) {
      const place = filesImported(file, from, shape).find((each) => languageOf(each) === language);
      if (place === undefined || place === file) continue;
      const names = found.get(place) ?? new Map<string, string>();
      found.set(place, names);
      for (const [local, exported] of namesIn(list, between)) names.set(local, exported);
    }
  const files = await Promise.all([...found].slice(0, MAX_FILES).map(async ([place, names]) => ({ names, text: await read(place) })));
  return files.flatMap((imported) => (imported.text === undefined ? [] : [{ names: imported.names, text: imported.text }]));
}

function* namesIn(list: string, between: RegExp): Generator<readonly [local: string, exported: string]> {
  const inner = /\{([^}]*)\}/.exec(list)?.[1] ?? '';
  for (const part of inner.split(',')) {
    const [exported = '', local = exported] = part.replace(/^\s*type\s/, '').split(between).map((name) => name.trim());
    if (/^\w+$/.test(local)) yield [local, exported];
  }
  for (const part of list.replace(/\{[^}]*\}/, '').split(',')) {
    const name = part.trim().replace(/^\*\s*as\s+/, '');
    if (!/^\w+$/.test(name)) continue;
    yield [name, 'default'];
    yield [`${name}.*`, '*'];
  }
}
