import path from 'node:path';
import { isTestPath } from '../context/file-names.ts';
import type { Definition } from '../context/symbols/definition.ts';
import { importsIn } from '../common/imports/imports-in.ts';
import type { SymbolIndex } from '../context/symbols/symbol-index.ts';
import { wordsIn } from './words.ts';

/** A definition in another file that the code at the cursor may need, and how likely that is. */
export interface NearDefinition {
  readonly definition: Definition;
  readonly score: number;
}

export interface NearPlace {
  readonly before: string;
  readonly after: string;
}

const LINES_BEFORE = 40;
const LINES_AFTER = 20;
/** Of a name that is typed. With fewer letters, too many names begin with them. */
const OPEN_LETTERS = 3;
/** A name with more definitions says nothing of which is meant. */
const MAX_MEANINGS = 3;
/** Files that are reached through imports of imports: a package's index hands on what others define. */
const MAX_REACHED = 300;
const MAX_STEPS = 3;
const MAX_MEMBERS = 60;
/** Files that often only name what others define. */
const HANDS_ON = /(?:^|\/)(?:index\.\w+|__init__\.py|lib\.rs|mod\.rs)$/;

/** The likelihoods, in points of no meaning but their order. Found with test/bench/suggest on lines of another seed. */
const POINTS = {
  onLine: 100, begun: 90, imported: 40, near: 30, elsewhere: 12, member: 22, exported: 8, handedOn: 7, inFolder: 6,
} as const;

/** Where names lead from one file. It remembers what the index has answered, so that a key costs only what it adds. */
export class NearDefinitions {
  readonly #index: SymbolIndex;
  readonly #path: string;
  readonly #known = new Map<string, readonly Definition[]>();
  readonly #members = new Map<Definition, readonly Definition[]>();
  #reached: ReadonlySet<string> | undefined;
  #neighbours: readonly Definition[] | undefined;
  #exported: ReadonlyMap<string, number> | undefined;

  constructor(index: SymbolIndex, file: string) {
    this.#index = index;
    this.#path = file;
  }

  /** The definitions in other files that may be needed at the place, the likeliest first. */
  at({ before, after }: NearPlace): NearDefinition[] {
    const found = new Map<Definition, number>();
    const add = (definition: Definition, score: number): void => {
      if (definition.path === this.#path) return;
      found.set(definition, Math.max(found.get(definition) ?? 0, score * (isTestPath(definition.path) ? 0.3 : 1)));
    };
    const above = before.split('\n');
    const line = above.pop() ?? '';
    const counts = countsOf(before.slice(0, before.length - line.length), after);
    const { settled, open } = wordsOnLine(line);

    const types = new Map<Definition, number>();
    const use = (name: string, points: number): void => {
      for (const [rank, definition] of this.#meant(name).entries()) {
        add(definition, points - rank);
        if (isContainer(definition)) types.set(definition, Math.max(types.get(definition) ?? 0, points));
      }
    };
    for (const name of settled) use(name, POINTS.onLine);
    for (const as of this.#importedNames(before)) use(as, POINTS.imported);
    for (const [distance, text] of above.slice(-LINES_BEFORE).reverse().entries()) {
      for (const name of wordsIn(text)) use(name, POINTS.near - distance / 4);
    }
    for (const [distance, text] of after.split('\n', LINES_AFTER).entries()) {
      for (const name of wordsIn(text)) use(name, POINTS.near - 2 - distance / 3);
    }
    for (const name of counts.keys()) use(name, POINTS.elsewhere);
    for (const [type, points] of types) {
      for (const member of this.#membersOf(type)) add(member, POINTS.member * (points / POINTS.onLine) + usedOften(member.name, counts));
    }
    for (const [file, points] of this.#exporters()) {
      for (const definition of this.#definedIn(file)) add(definition, points + usedOften(definition.name, counts));
    }
    for (const definition of this.#inFolder()) add(definition, POINTS.inFolder + usedOften(definition.name, counts));
    if (open !== undefined) {
      for (const [definition, score] of found) if (definition.name.startsWith(open)) add(definition, POINTS.begun + score / 100);
    }
    return [...found].map(([definition, score]) => ({ definition, score }))
      .sort((a, b) => b.score - a.score || compareText(a.definition.path, b.definition.path) || a.definition.line - b.definition.line);
  }

  /** The definitions that a name of this file may mean: none for a name that only others define. */
  #meant(name: string): readonly Definition[] {
    let meant = this.#known.get(name);
    if (!meant) {
      const all = this.#index.definitions(name, { path: this.#path });
      const [first] = all;
      // A name of the file itself is none of the others'.
      const others = first?.path === this.#path ? [] : all;
      const folder = path.posix.dirname(this.#path);
      const linked = others.filter((one) => path.posix.dirname(one.path) === folder || this.#reachable().has(one.path));
      meant = (linked.length > 0 ? linked : others.length <= MAX_MEANINGS ? others : []).slice(0, MAX_MEANINGS)
        .map((one) => this.#definedIn(one.path).find(({ line, name: same }) => line === one.line && same === one.name) ?? one);
      this.#known.set(name, meant);
    }
    return meant;
  }

  /** What the file calls the names that it imports, saved or not. */
  #importedNames(text: string): ReadonlySet<string> {
    const saved = this.#index.file(this.#path)?.imports ?? [];
    return new Set([...saved, ...importsIn(this.#path, text)].flatMap(({ names }) => names.map(({ as }) => as)));
  }

  #reachable(): ReadonlySet<string> {
    if (this.#reached) return this.#reached;
    const reached = new Set<string>();
    let files: readonly string[] = [this.#path];
    for (let step = 0; step < MAX_STEPS && reached.size < MAX_REACHED; step += 1) {
      files = files.flatMap((file) => this.#index.importsOf(file)).filter((file) => !reached.has(file));
      for (const file of files.slice(0, MAX_REACHED - reached.size)) reached.add(file);
    }
    this.#reached = reached;
    return reached;
  }

  /** The files that this one imports, and those whose names they hand on. */
  #exporters(): ReadonlyMap<string, number> {
    if (this.#exported) return this.#exported;
    const direct = this.#index.importsOf(this.#path);
    const handedOn = direct.filter((file) => HANDS_ON.test(file)).flatMap((file) => this.#index.importsOf(file));
    this.#exported = new Map([
      ...handedOn.slice(0, MAX_REACHED).map((file): [string, number] => [file, POINTS.handedOn]),
      ...direct.map((file): [string, number] => [file, POINTS.exported]),
    ]);
    return this.#exported;
  }

  /** What stands inside a class, and the methods that its language defines outside of it. */
  #membersOf(type: Definition): readonly Definition[] {
    const known = this.#members.get(type);
    if (known) return known;
    const all = this.#definedIn(type.path);
    const receiver = new RegExp(`^func \\([\\w ]{0,40}\\*?${escaped(type.name)}[\\])[]`);
    const isInside = ({ line }: Definition, { line: start, endLine }: Definition): boolean => line > start && line <= endLine;
    const bodies = all.filter((one) => one.name === type.name && isContainer(one));
    const members = all.filter((one) => receiver.test(one.signature) || bodies.some((body) => isInside(one, body))).slice(0, MAX_MEMBERS);
    this.#members.set(type, members);
    return members;
  }

  /** As the index holds them: those that are shown are looked through for secrets, not thousands that are not. */
  #definedIn(file: string): readonly Definition[] {
    return this.#index.file(file)?.definitions ?? [];
  }

  /** In these languages, files of a folder see each other without an import. */
  #inFolder(): readonly Definition[] {
    if (!/\.(?:go|java|kt|rs|cs|swift)$/.test(this.#path)) return [];
    if (this.#neighbours) return this.#neighbours;
    const folder = path.posix.dirname(this.#path);
    const files = [...this.#index.files].filter((one) => path.posix.dirname(one.path) === folder && one.path !== this.#path && !isTestPath(one.path));
    this.#neighbours = files.flatMap((one) => one.definitions);
    return this.#neighbours;
  }
}

function isContainer({ kind }: Definition): boolean {
  return kind === 'class' || kind === 'type' || kind === 'module';
}

function usedOften(name: string, counts: ReadonlyMap<string, number>): number {
  return Math.min(6, 2 * Math.log2(1 + (counts.get(name) ?? 0)));
}

function countsOf(...texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) for (const name of wordsIn(text)) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** The names of the line that are typed to their end, and the beginning of one that is not. */
export function wordsOnLine(line: string): { readonly settled: readonly string[]; readonly open: string | undefined } {
  const [last = ''] = /[\p{L}_$][\p{L}\p{N}_$]*$/u.exec(line) ?? [];
  const settled = [...new Set(wordsIn(line.slice(0, line.length - last.length)))];
  return { settled, open: last.length < OPEN_LETTERS ? undefined : last.slice(0, OPEN_LETTERS) };
}

function escaped(text: string): string {
  return text.replaceAll('$', String.raw`\$`);
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
