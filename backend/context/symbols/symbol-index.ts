import { lstatSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { Slices } from '../../common/slices.ts';
import { isTestPath } from '../file-names.ts';
import { isSecretFile } from '../../common/secrets/secret-files.ts';
import { redact } from '../../common/secrets/secrets.ts';
import { compare } from '../text-order.ts';
import { Vocabulary } from '../search/vocabulary.ts';
import type { Workspace } from '../workspace.ts';
import type { Definition } from './definition.ts';
import type { IndexContent } from './index-bytes.ts';
import { indexFile, statusOf, type IndexedFile } from './indexed-file.ts';
import { importsIn, type Import } from '../../common/imports/imports-in.ts';
import { filesImported, type ProjectShape } from '../../common/imports/resolve-import.ts';

/** More files are not indexed. A file takes about a kilobyte and a half. */
const MAX_FILES = 60_000;
/**
 * One refresh reads new files for at most this long; the next one goes on. It takes a few seconds for as many files as an index holds, so only a busy
 * machine or a slow disk comes near it, and there a late answer is better than one from half of the project.
 */
const MAX_READING_MS = 30_000;
/** How many files hand a name on before its definition is given up. */
const MAX_HANDED_ON = 4;
const MAX_ANSWERS = 50;

const slices = new Slices();

/**
 * Where the names of a workspace are defined, and which of its files import which. Only files that may be sent are in it: ignored and
 * secret ones are not. Queries are synchronous and take well under a millisecond; `SymbolIndexes` keeps indexes warm.
 */
export class SymbolIndex {
  readonly vocabulary: Vocabulary;
  readonly #files = new Map<string, IndexedFile>();
  readonly #byName = new Map<string, Definition[]>();
  #project: ProjectShape = { has: () => false, named: () => [], inFolder: () => [], packages: new Map() };
  #imported = new Map<string, readonly string[]>();
  #importers: ReadonlyMap<string, readonly string[]> | undefined;

  #changes = 0;
  /** The number of changes that `#project` knows of. */
  #shapedAt = -1;

  /** @param content of an earlier index of the same workspace; the first refresh reads what has changed since */
  constructor(content?: IndexContent) {
    this.vocabulary = new Vocabulary(content?.hashes);
    for (const file of content?.files ?? []) this.#add(file);
    this.#changes = 0;
  }

  /** How many files were added or forgotten since it was made. */
  get changes(): number {
    return this.#changes;
  }

  /** What a later index of the same workspace can begin with. */
  get content(): IndexContent {
    return { hashes: this.vocabulary.hashes, files: [...this.#files.values()] };
  }

  /** All indexed files, in no particular order. */
  get files(): Iterable<IndexedFile> {
    return this.#files.values();
  }

  file(file: string): IndexedFile | undefined {
    return this.#files.get(file);
  }

  /**
   * The definitions of a name, the most likely one first: in the file `from` itself, in files that it imports the name from (also through
   * files that only hand it on), in other files that it imports, in its folder, elsewhere; source before tests.
   * @param from a file of the workspace, and its text where that is newer than the file, as in an editor
   */
  definitions(name: string, from?: { readonly path: string; readonly text?: string | undefined }): readonly Definition[] {
    const imports = from ? this.#importsOf(from.path, from.text) : [];
    const origins = imports.flatMap(({ from: specifier, names }) =>
      names.filter(({ as }) => as === name).map((taken) => ({ specifier, name: taken.name })));
    const original = origins[0]?.name ?? name;
    const all = this.#byName.get(original) ?? (original === name ? [] : this.#byName.get(name)) ?? [];
    if (all.length === 0) return [];
    const named = from ? new Set(origins.flatMap(({ specifier }) => this.#whereFrom(from.path, specifier, original))) : new Set<string>();
    const others = new Set(from ? this.importsOf(from.path, from.text) : []);
    const folder = from && path.posix.dirname(from.path);
    const rank = ({ path: file }: Definition): number => {
      if (file === from?.path && named.size === 0) return 0;
      if (named.has(file)) return 1;
      const near = others.has(file) ? 2 : path.posix.dirname(file) === folder ? 3 : 4;
      return near + (isTestPath(file) ? 3 : 0);
    };
    return all.map((definition) => ({ definition, rank: rank(definition) }))
      .sort((a, b) => a.rank - b.rank || compare(a.definition.path, b.definition.path) || a.definition.line - b.definition.line)
      .slice(0, MAX_ANSWERS).map(({ definition }) => withoutSecrets(definition));
  }

  /** The definitions in a file by line. */
  definitionsIn(file: string): readonly Definition[] {
    return (this.#files.get(file)?.definitions ?? []).map(withoutSecrets);
  }

  /** The files of the workspace that a file imports. @param text its text where that is newer than the file */
  importsOf(file: string, text?: string): readonly string[] {
    const known = text === undefined ? this.#imported.get(file) : undefined;
    if (known) return known;
    const found = [...new Set(this.#importsOf(file, text).flatMap(({ from }) => filesImported(file, from, this.#project)))]
      .filter((other) => other !== file);
    if (text === undefined) this.#imported.set(file, found);
    return found;
  }

  /** The files of the workspace that import a file. The first call after a change looks at all files. */
  importersOf(file: string): readonly string[] {
    if (!this.#importers) {
      const importers = new Map<string, string[]>();
      for (const importer of [...this.#files.keys()].sort()) {
        for (const imported of this.importsOf(importer)) {
          const list = importers.get(imported);
          if (list) list.push(importer);
          else importers.set(imported, [importer]);
        }
      }
      this.#importers = importers;
    }
    return this.#importers.get(file) ?? [];
  }

  /** Reads what has changed since the last time, by size and time of change. @throws the signal's reason when it aborts */
  async refresh(workspace: Workspace, signal: AbortSignal): Promise<void> {
    const wanted = workspace.files.filter((file) => this.#files.has(file) || !isSecretFile(file)).slice(0, MAX_FILES);
    const present = new Set(wanted);
    for (const file of [...this.#files.keys()]) if (!present.has(file)) this.#forget(file);

    const isInside = folderCheck(workspace.root);
    const stale: { file: string; status: NonNullable<ReturnType<typeof statusOf>> }[] = [];
    await slices.forEach(wanted, (file) => {
      signal.throwIfAborted();
      const status = statusOf(`${workspace.root}/${file}`);
      const known = this.#files.get(file);
      if (!status) this.#forget(file);
      else if (known?.size !== status.size || known.mtimeMs !== status.mtimeMs) stale.push({ file, status });
    });
    // Source first, in case the time does not suffice for all.
    const rank = (file: string): number => (isTestPath(file) ? 1 : 0);
    stale.sort((a, b) => rank(a.file) - rank(b.file));
    const end = performance.now() + MAX_READING_MS;
    await slices.forEach(stale, ({ file, status }) => {
      signal.throwIfAborted();
      if (performance.now() > end) return;
      this.#forget(file);
      if (isInside(folderOf(file))) this.#add(indexFile({ root: workspace.root, vocabulary: this.vocabulary }, file, status));
    });
    if (this.#shapedAt !== this.#changes) this.#reshape(workspace);
  }

  #add(record: IndexedFile): void {
    this.#changes += 1;
    this.#files.set(record.path, record);
    for (const definition of record.definitions) {
      const list = this.#byName.get(definition.name);
      if (list) list.push(definition);
      else this.#byName.set(definition.name, [definition]);
    }
  }

  #forget(file: string): void {
    const record = this.#files.get(file);
    if (!record) return;
    this.#changes += 1;
    this.#files.delete(file);
    for (const name of new Set(record.definitions.map((definition) => definition.name))) {
      const rest = (this.#byName.get(name) ?? []).filter((definition) => definition.path !== file);
      if (rest.length > 0) this.#byName.set(name, rest);
      else this.#byName.delete(name);
    }
  }

  #reshape(workspace: Workspace): void {
    const folders = Map.groupBy(this.#files.keys(), folderOf);
    const packages = new Map<string, string>();
    for (const { path: file, packageName } of this.#files.values()) {
      // The shortest path wins: fixtures declare packages, too.
      const known = packageName === undefined ? undefined : packages.get(packageName);
      if (packageName !== undefined && (known === undefined || folderOf(file).length < known.length)) packages.set(packageName, folderOf(file));
    }
    this.#project = {
      has: (file) => this.#files.has(file),
      named: (name) => workspace.named(name),
      inFolder: (folder) => folders.get(folder) ?? [],
      packages,
    };
    this.#imported = new Map();
    this.#importers = undefined;
    this.#shapedAt = this.#changes;
  }

  #importsOf(file: string, text: string | undefined): readonly Import[] {
    return text === undefined ? this.#files.get(file)?.imports ?? [] : importsIn(file, text);
  }

  /** The files that define a name that is imported from somewhere, through files that only hand it on. */
  #whereFrom(importer: string, specifier: string, name: string): string[] {
    let files = filesImported(importer, specifier, this.#project);
    for (let step = 0; step < MAX_HANDED_ON; step += 1) {
      const defining = files.filter((file) => this.#files.get(file)?.definitions.some((definition) => definition.name === name));
      if (defining.length > 0) return defining;
      files = files.flatMap((file) => this.#handedOn(file, name));
      if (files.length === 0) break;
    }
    return [];
  }

  #handedOn(file: string, name: string): readonly string[] {
    const imports = this.#files.get(file)?.imports ?? [];
    const exact = imports.filter(({ names }) => names.some(({ as }) => as === name));
    const all = exact.length > 0 ? exact : imports.filter(({ passedOn, names }) => passedOn && names.length === 0);
    return [...new Set(all.flatMap(({ from }) => filesImported(file, from, this.#project)))].slice(0, MAX_ANSWERS);
  }
}

/** '' for the root. */
function folderOf(file: string): string {
  return file.slice(0, Math.max(0, file.lastIndexOf('/')));
}

/**
 * Whether a folder is really inside the workspace: a folder may have been replaced by a link since it was listed. Each folder on the way is
 * looked at once; resolving the path of every folder would look at all folders above it again and again.
 */
function folderCheck(root: string): (folder: string) => boolean {
  const known = new Map<string, boolean>();
  const isReal = (folder: string): boolean => {
    try {
      return folder === '' ? realpathSync(root) === root : isInside(folderOf(folder)) && lstatSync(`${root}/${folder}`).isDirectory();
    } catch {
      return false;
    }
  };
  const isInside = (folder: string): boolean => {
    const answer = known.get(folder) ?? isReal(folder);
    known.set(folder, answer);
    return answer;
  };
  return isInside;
}

/** Looked through once: a name may be asked for at every key. */
const clean = new WeakMap<Definition, Definition>();

function withoutSecrets(definition: Definition): Definition {
  const known = clean.get(definition);
  if (known) return known;
  const [signature = ''] = redact([definition.signature]).lines;
  const cleaned = signature === definition.signature ? definition : { ...definition, signature };
  clean.set(definition, cleaned);
  return cleaned;
}
