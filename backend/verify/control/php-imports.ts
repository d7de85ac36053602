import path from 'node:path';
import type { Import } from './imported-files.ts';

/** The classes and traits that a PHP file of tests takes methods from, where one file of the project is called like it. */
export function* phpImports(file: string, text: string, paths: ReadonlySet<string>): Generator<Import> {
  const aliases = new Map([...text.matchAll(/^use[ \t]+([\w\\]+)[ \t]+as[ \t]+(\w+)[ \t]*;/gm)].map(([, name = '', alias = '']) => [alias, lastOf(name)]));
  const extended = [...text.matchAll(/\bextends[ \t]+([\w\\]+)/g)].map(([, name = '']) => name);
  const used = [...text.matchAll(/^[ \t]+use[ \t]+([\w\\, \t]+)[;{]/gm)].flatMap(([, names = '']) => names.split(',').map((name) => name.trim()));
  for (const written of new Set([...extended, ...used])) {
    const local = lastOf(written);
    const name = aliases.get(local) ?? local;
    const beside = path.posix.join(path.posix.dirname(file), `${name}.php`);
    const [only, ...more] = paths.has(beside) ? [beside] : [...paths].filter((other) => other.endsWith(`/${name}.php`));
    if (only !== undefined && more.length === 0 && only !== file) yield { place: only, names: [[local, name]] };
  }
}

const lastOf = (name: string): string => name.split('\\').at(-1) ?? name;
