import { detached } from '../detached.ts';
import { familyNameOf, type FamilyName } from './language-families.ts';

/** What one file takes from another. */
export interface Import {
  /** As written: `./a.js`, `pkg.module`, `crate::a::b`. */
  readonly from: string;
  /** The names it takes, and what it calls them. Empty where the whole module is taken. */
  readonly names: readonly { readonly name: string; readonly as: string }[];
  /** Whether the file also hands these names on, as `export … from` does. */
  readonly passedOn: boolean;
}

const MAX_IMPORTS = 400;
const MAX_NAMES = 100;

type Found = { from: string; names?: readonly { name: string; as: string }[]; passedOn?: boolean };

/** What a file imports, as written. Empty for languages whose imports are not read. */
export function importsIn(path: string, text: string): Import[] {
  const family = familyNameOf(path);
  const find = family && FINDERS[family];
  if (!find) return [];
  const imports: Import[] = [];
  for (const { from, names = [], passedOn = false } of find(text)) {
    const kept = names.slice(0, MAX_NAMES).map(({ name, as }) => ({ name: detached(name), as: detached(as) }));
    imports.push({ from: detached(from), names: kept, passedOn });
    if (imports.length === MAX_IMPORTS) break;
  }
  return imports;
}

const FINDERS: Partial<Record<FamilyName, (text: string) => Iterable<Found>>> = {
  script: scriptImports,
  python: pythonImports,
  go: goImports,
  rust: rustImports,
  jvm: jvmImports,
  c: (text) => plain(text, /^[ \t]{0,40}#[ \t]{0,4}(?:include|import)[ \t]{0,4}["<]([^">\n]{1,200})[">]/gm),
  ruby: (text) => plain(text, /^[ \t]{0,40}require(?:_relative)?[ \t(]{1,4}['"]([^'"\n]{1,200})['"]/gm),
  php: phpImports,
  lua: (text) => plain(text, /\brequire[ \t(]{1,4}['"]([^'"\n]{1,200})['"]/g),
};

function* plain(text: string, pattern: RegExp): Iterable<Found> {
  for (const [, from = ''] of text.matchAll(pattern)) yield { from };
}

const SCRIPT_STATEMENT = /^[ \t]{0,40}(import|export)\s{1,4}([^'"`;()]{1,1500}?)\s{0,8}\bfrom\s{0,4}['"]([^'"\n]{1,200})['"]/gm;
const SCRIPT_BARE = /^[ \t]{0,40}import\s{0,4}['"]([^'"\n]{1,200})['"]/gm;
const SCRIPT_CALL =
  /(?:\b(?:const|let|var)\s{1,4}(\{[^}]{0,400}\}|[\w$]{1,80})\s{0,4}=\s{0,4}(?:await\s{1,4})?)?\b(?:require|import|requireActual)\s{0,2}\(\s{0,4}['"]([^'"\n]{1,200})['"]/g;

function* scriptImports(text: string): Iterable<Found> {
  for (const [, word, clause = '', from = ''] of text.matchAll(SCRIPT_STATEMENT)) {
    yield { from, names: namesIn(clause), passedOn: word === 'export' };
  }
  for (const [, from = ''] of text.matchAll(SCRIPT_BARE)) yield { from };
  for (const [, clause = '', from = ''] of text.matchAll(SCRIPT_CALL)) yield { from, names: namesIn(clause.replaceAll(':', ' as ')) };
}

/** The names of `{a, b as c}` and `{type a}`, and a default or whole import under the name it gets. */
function namesIn(clause: string): { name: string; as: string }[] {
  return clause.replace(/^\s*type\s+/, '').replace(/[{}]/g, ',').split(',').flatMap((part) => {
    const [, name = '', as = name] = /^\s*(?:type\s+)?([\w$*]{1,100})(?:\s+as\s+([\w$]{1,100}))?\s*$/.exec(part) ?? [];
    return name === '' || name === '*' ? [] : [{ name: name === 'default' ? as : name, as }];
  });
}

function* pythonImports(text: string): Iterable<Found> {
  for (const [, from = '', inParentheses, onLine] of
    text.matchAll(/^[ \t]{0,40}from[ \t]{1,4}([\w.]{1,200})[ \t]{1,4}import[ \t]{1,4}(?:\(([^)]{1,3000})\)|([^\n#]{1,400}))/gm)) {
    yield { from, names: namesIn((inParentheses ?? onLine ?? '').replace(/#[^\n]*/g, '')) };
  }
  for (const [, list = ''] of text.matchAll(/^[ \t]{0,40}import[ \t]{1,4}([\w., \t]{1,400})/gm)) {
    for (const part of list.split(',')) {
      const from = part.trim().split(/\s/)[0] ?? '';
      if (from !== '') yield { from };
    }
  }
}

function* goImports(text: string): Iterable<Found> {
  for (const [, one, group = ''] of text.matchAll(/^import[ \t]{1,4}(?:(?:[\w.]{1,40}[ \t]{1,4})?"([^"\n]{1,200})"|\(([^)]{0,6000})\))/gm)) {
    if (one !== undefined) yield { from: one };
    for (const [, from = ''] of group.matchAll(/"([^"\n]{1,200})"/g)) yield { from };
  }
}

function* rustImports(text: string): Iterable<Found> {
  for (const [, name = ''] of text.matchAll(/^[ \t]{0,40}(?:pub(?:\([^)]{0,40}\))?[ \t]{1,4})?mod[ \t]{1,4}(\w{1,80})[ \t]{0,4};/gm)) {
    yield { from: `self::${name}` };
  }
  for (const [, pub, tree = ''] of text.matchAll(/^[ \t]{0,40}(pub(?:\([^)]{0,40}\))?[ \t]{1,4})?use[ \t]{1,4}([^;]{1,1500});/gm)) {
    const flat = tree.replace(/\s+/g, ' ');
    const [, root = '', group] = /^([\w: ]{1,200}?)(?:::)?(?:\{(.*)\})?$/.exec(flat) ?? [];
    if (root === '') continue;
    if (group === undefined) {
      const last = /^(.*)::(\w+)(?: as (\w+))?$/.exec(flat);
      yield { from: root.split(' ')[0] ?? root, names: last ? [{ name: last[2] ?? '', as: last[3] ?? last[2] ?? '' }] : [], passedOn: pub !== undefined };
      continue;
    }
    yield { from: root, names: namesIn(group), passedOn: pub !== undefined };
    for (const part of group.split(',')) {
      const [, name = ''] = /^\s*([\w:]{1,200})/.exec(part) ?? [];
      if (name.includes('::')) yield { from: `${root}::${name}` };
    }
  }
}

function* jvmImports(text: string): Iterable<Found> {
  for (const [, from = ''] of text.matchAll(/^[ \t]{0,40}(?:import|using)[ \t]{1,4}(?:static[ \t]{1,4})?['"]?([\w.*:/-]{1,200})/gm)) {
    const name = from.split('.').at(-1) ?? '';
    yield { from, names: /^\w+$/.test(name) ? [{ name, as: name }] : [] };
  }
}

function* phpImports(text: string): Iterable<Found> {
  for (const [, from = ''] of text.matchAll(/^[ \t]{0,40}use[ \t]{1,4}([\w\\]{1,200})/gm)) {
    const name = from.split('\\').at(-1) ?? '';
    yield { from, names: [{ name, as: name }] };
  }
  yield* plain(text, /\b(?:require|include)(?:_once)?[ \t(]{1,4}[^'"\n]{0,40}['"]([^'"\n]{1,200})['"]/g);
}
