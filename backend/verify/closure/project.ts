import path from 'node:path';
import { importsIn } from '../../common/imports/imports-in.ts';
import { familyNameOf } from '../../common/imports/language-families.ts';
import { packageNameIn } from '../../common/imports/package-names.ts';
import { filesImported, type ProjectShape } from '../../common/imports/resolve-import.ts';
import type { Slices } from '../../common/slices.ts';
import { isPathOfTest } from '../files/protected-paths.ts';

/** What is judged: paths are relative with forward slashes. */
export interface ProjectFiles {
  readonly paths: ReadonlySet<string>;
  /** Undefined if there is no such text file. */
  text(path: string): string | undefined;
}

/** Longer files are bundled or generated. */
const MAX_CHARACTERS = 512 * 1024;

export const folderOf = (file: string): string => file.slice(0, Math.max(0, file.lastIndexOf('/')));
export const baseOf = (file: string): string => file.slice(file.lastIndexOf('/') + 1);
/** The name without its ending. */
export const stemOf = (file: string): string => baseOf(file).replace(/\.[^.]+$/, '');

export const isConftest = (file: string): boolean => baseOf(file) === 'conftest.py';
/** A file of tests, their data, or pytest's file beside them. */
export const belongsToTests = (file: string): boolean => isPathOfTest(file) || isConftest(file);

/** Which files of a project import which. Reads all its sources once, when it is first asked. */
export class ProjectImports {
  readonly files: ProjectFiles;
  readonly #slices: Slices;
  #shape: ProjectShape | undefined;
  #importers: Promise<ReadonlyMap<string, ReadonlySet<string>>> | undefined;

  constructor(files: ProjectFiles, slices: Slices) {
    this.files = files;
    this.#slices = slices;
  }

  /** The files that import a file. */
  async importersOf(file: string): Promise<ReadonlySet<string>> {
    return (await (this.#importers ??= this.#allImporters())).get(file) ?? NONE;
  }

  /** The files that a file imports. */
  importsOf(file: string): ReadonlySet<string> {
    const found = new Set<string>();
    const text = familyNameOf(file) === undefined ? undefined : this.files.text(file);
    if (text === undefined || text.length > MAX_CHARACTERS) return found;
    const take = (from: string): number => {
      const files = filesImported(file, from, this.shape);
      for (const one of files) if (one !== file) found.add(one);
      return files.length;
    };
    const isPython = familyNameOf(file) === 'python';
    for (const { from, names } of importsIn(file, text)) {
      take(from);
      // `from shop import testing` may mean a module.
      if (isPython) for (const { name } of names) take(from.endsWith('.') ? from + name : `${from}.${name}`);
    }
    // Tests load files by other means, too, such as a function that `createRequire` returned.
    if (belongsToTests(file)) for (const [, from = ''] of text.matchAll(/['"`](\.\.?\/[^'"`\n$]{1,200})['"`]/g)) take(from);
    return found;
  }

  get shape(): ProjectShape {
    return (this.#shape ??= shapeOf(this.files));
  }

  async #allImporters(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
    const importers = new Map<string, Set<string>>();
    await this.#slices.forEach(this.files.paths, (file) => {
      for (const imported of this.importsOf(file)) {
        const known = importers.get(imported);
        if (known) known.add(file);
        else importers.set(imported, new Set([file]));
      }
    });
    return importers;
  }
}

const NONE: ReadonlySet<string> = new Set();
const MANIFESTS = new Set(['package.json', 'go.mod', 'Cargo.toml']);

function shapeOf({ paths, text }: ProjectFiles): ProjectShape {
  const named = Map.groupBy(paths, baseOf);
  const inFolder = Map.groupBy(paths, folderOf);
  const packages = new Map<string, string>();
  for (const manifest of MANIFESTS) {
    for (const file of named.get(manifest) ?? []) {
      const name = packageNameIn(file, text(file) ?? '');
      const known = name === undefined ? undefined : packages.get(name);
      // The shortest path wins: fixtures declare packages, too.
      if (name !== undefined && (known === undefined || folderOf(file).length < known.length)) packages.set(name, folderOf(file));
    }
  }
  return { has: (file) => paths.has(file), named: (name) => named.get(name) ?? [], inFolder: (folder) => inFolder.get(folder) ?? [], packages };
}

/** The file that a path in a configuration means, as written there or without its ending. */
export function fileNamed(written: string, folder: string, { shape }: ProjectImports): string | undefined {
  const inside = written.replace(/^<rootDir>\/?/, '').replace(/^file:\/\//, '');
  if (inside === '' || path.posix.isAbsolute(inside)) return undefined;
  const at = path.posix.join(folder, inside);
  if (at.startsWith('..')) return undefined;
  return shape.has(at) ? at : filesImported('configuration.js', `./${at}`, shape)[0];
}
