import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { isTestPath } from '../../../backend/context/file-names.ts';
import { languageOf, type Language } from '../../../backend/verify/syntax/language.ts';
import { namesIn, type NamePlace, type NamesOfFile } from './names.ts';
import type { Line } from './lines.ts';
import { checkOut, headOf, REPOSITORIES } from './repositories.ts';

/*
 * Chooses the lines of the bench by a rule and a seed, and writes where they are: `lines.json`.
 *
 *     node with-node.mjs node test/bench/suggest/choose.ts BARE --checkouts FOLDER
 *
 * A line is eligible if it uses a name that has exactly one definition in the project's source and that this definition is in another
 * file. Tests, fixtures and generated files are neither read nor chosen from. A name is taken once in a file and twice in a repository.
 */

const WANTED = 500;
const SKIPPED = /(?:^|\/)(?:node_modules|fixtures?|__fixtures__|dist|build|vendor|examples?|benchmarks?|bench|playground|e2e|docs|website|__mocks__|testdata|third_party|generated|\.git|locale)(?:\/|$)|\.min\.|\.d\.[mc]?ts$|eslint|(?:^|\/)scripts\//;

/** Names that libraries of these languages define, too: of a member alone nobody can tell whose it is. */
const BUILT_IN = Object.getOwnPropertyNames(globalThis).flatMap((name) => {
  const value = Reflect.get(globalThis, name) as { prototype?: object } | undefined;
  return [name, ...(typeof value === 'function' || typeof value === 'object' ? Object.getOwnPropertyNames(value ?? {}) : []),
    ...(value?.prototype ? Object.getOwnPropertyNames(value.prototype) : [])];
});
const COMMON = new Set([...BUILT_IN, 'require', 'module', 'exports', ...`
  map filter forEach reduce find findIndex some every push pop shift join split slice concat includes indexOf keys values entries then catch finally
  get set has delete add clear append extend insert remove sort reverse copy update items format strip replace lower upper startswith endswith
  encode decode read write close open seek flush send receive emit call apply bind toString valueOf hasOwnProperty assign create test exec match
  search trim length name size next value done iter collect unwrap expect clone into from default build new len is_empty as_ref as_str to_string
  to_owned borrow lock equals hashCode compareTo getClass print println printf error log info warn debug parse stringify resolve reject all race
  exit cwd args env stdout stderr stdin path file type kind data text options config message status code url method headers body params query host
  port start stop init main run setUp tearDown exists mkdir stat warning args kwargs contains isEmpty iterator stream append is_file is_dir canonicalize
  exists starts_with ends_with getValue getKey hashCode Value Error String HandlerFunc Handler HashMap Range render writable readable
`.split(/\s+/)]);

interface Source {
  readonly path: string;
  readonly lines: readonly string[];
  readonly names: NamesOfFile;
}

const { positionals: [bare = ''], values: { checkouts = '', seed, out } } = parseArgs({ allowPositionals: true, options: {
  checkouts: { type: 'string' },
  // Another seed, written elsewhere, gives lines to work with that are not those of the report.
  seed: { type: 'string', default: '20261124' }, out: { type: 'string', default: path.join(import.meta.dirname, 'lines.json') },
} });

const byLanguage = new Map<string, Line[][]>();
for (const { name, languages } of REPOSITORIES) {
  const commit = headOf(bare, name);
  const root = checkOut(bare, name, { commit, into: checkouts });
  for (const language of languages) {
    const sources = await sourcesOf(root, language);
    const lines = linesOf(sources).map((line) => ({ repository: name, commit, language, ...line }));
    shuffle(lines, random(Number(seed)));
    console.log(`${name} ${language}: ${sources.length} files, ${lines.length} names`);
    byLanguage.set(language, [...(byLanguage.get(language) ?? []), thinned(lines)]);
  }
}

const chosen: Line[] = [];
// The languages with the fewest lines first: what they lack is taken from the others.
const languages = [...byLanguage.values()].sort((a, b) => a.flat().length - b.flat().length);
for (const [index, pools] of languages.entries()) {
  const share = Math.floor((WANTED - chosen.length) / (languages.length - index));
  // In turn from each repository, so that a large one does not stand for its language.
  let taken = 0;
  while (taken < share) {
    const before = taken;
    for (const pool of pools) {
      const line = pool.shift();
      if (!line || taken === share) continue;
      chosen.push(line);
      taken += 1;
    }
    if (taken === before) break;
  }
}
writeFileSync(out, `[\n${chosen.map((line) => JSON.stringify(line)).join(',\n')}\n]\n`);
console.log(`${chosen.length} lines chosen.`);

async function sourcesOf(root: string, language: Language): Promise<Source[]> {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).sort().filter((file) =>
    languageOf(file) === language && !SKIPPED.test(file) && !isTestPath(file) && statSync(path.join(root, file)).isFile());
  const sources: Source[] = [];
  for (const file of files) {
    const text = readFileSync(path.join(root, file), 'utf8');
    if (text.length > 300_000) continue;
    sources.push({ path: file, lines: text.split('\n'), names: await namesIn(text, language) });
  }
  return sources;
}

function linesOf(sources: readonly Source[]): Omit<Line, 'repository' | 'commit' | 'language'>[] {
  const definitions = Map.groupBy(
    sources.flatMap((source) => source.names.defined.map((place) => ({ place, source }))), ({ place }) => place.name,
  );
  return sources.flatMap((source) => source.names.used.flatMap((use) => {
    const [definition, ...others] = definitions.get(use.name) ?? [];
    if (!definition || others.length > 0 || definition.source === source || !isEligible(use, source.lines)) return [];
    return [{
      path: source.path, line: use.line, column: use.column, name: use.name,
      definition: { path: definition.source.path, line: definition.place.line },
    }];
  }));
}

function isEligible({ name, line, column }: NamePlace, lines: readonly string[]): boolean {
  const text = lines[line] ?? '';
  if (name.length < 4 || COMMON.has(name) || text.length > 200) return false;
  return !/^\s*(?:\/\/|\/?\*|#(?!\[)|import\b|from\b|use\b|export\s*\{|export\s*\*|package\b|@)/.test(text) && text.slice(column).startsWith(name);
}

/** One use of a name in a file, two in a repository, six lines of a file. */
function thinned(lines: readonly Line[]): Line[] {
  const counts = new Map<string, number>();
  const under = (key: string, most: number): boolean => (counts.get(key) ?? 0) < most;
  return lines.filter((line) => {
    const keys = [[`${line.path} ${line.name}`, 1], [line.name, 2], [line.path, 6], [`${line.path}:${line.line}`, 1]] as const;
    if (!keys.every(([key, most]) => under(key, most))) return false;
    for (const [key] of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
    return true;
  });
}

/** mulberry32: https://gist.github.com/tommyettinger/46a874533244883189143505d203312c */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function shuffle(items: unknown[], next: () => number): void {
  for (let index = items.length - 1; index > 0; index -= 1) {
    const other = Math.floor(next() * (index + 1));
    [items[index], items[other]] = [items[other], items[index]];
  }
}
