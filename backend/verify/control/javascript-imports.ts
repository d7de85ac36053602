import { filesImported } from '../../common/imports/resolve-import.ts';
import { languageOf } from '../syntax/language.ts';
import type { Import } from './imported-files.ts';

const IMPORT = /\bimport\s+(?!type\b)([\w$*{},\s]{1,2000}?)\s+from\s*['"](\.[^'"\n]{1,300})['"]/g;
const REQUIRE = /\b(?:const|let|var)\s+(\{[^{}=]{0,2000}\}|\w+)\s*=\s*require\(\s*['"](\.[^'"\n]{1,300})['"]\s*\)/g;

/** What a file takes from others of the project. What stands for all that a file exports has `.*` behind its name. */
export function* scriptImports(file: string, text: string, paths: ReadonlySet<string>): Generator<Import> {
  const shape = { has: (path: string) => paths.has(path), named: () => [], inFolder: () => [], packages: new Map<string, string>() };
  const language = languageOf(file);
  for (const [pattern, between] of [[IMPORT, /\bas\b/], [REQUIRE, /:/]] as const)
    for (const [, list = '', from = ''] of text.matchAll(pattern)) {
      const place = filesImported(file, from, shape).find((each) => languageOf(each) === language);
      if (place !== undefined && place !== file) yield { place, names: namesIn(list, between) };
    }
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
