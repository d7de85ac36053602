import { constants } from 'node:fs';
import { lstat, open, readdir } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { MAX_FILE_BYTES } from '../files/text-file.ts';

/** Folders of dependencies, build outputs, and projects that are only test data. */
const FOREIGN_FOLDERS = new Set([
  ...['node_modules', 'vendor', 'target', 'build', 'dist', 'out', 'venv', 'env', '__pycache__', 'third_party', 'coverage'],
  ...['fixture', 'fixtures', '__fixtures__', 'testdata', 'test-data', '__mocks__'],
]);

/** Limits of the search for test files: enough to see what a project uses, and fast in a huge tree. */
const MAX_DEPTH = 6;
const MAX_FOLDERS = 500;

const packageSchema = z.object({
  scripts: z.record(z.string(), z.string()).catch({}).default({}),
  dependencies: z.record(z.string(), z.unknown()).catch({}).default({}),
  devDependencies: z.record(z.string(), z.unknown()).catch({}).default({}),
  wireit: z.record(z.string(), z.unknown()).catch({}).default({}),
});

export interface PackageFile {
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, unknown>>;
  readonly devDependencies: Readonly<Record<string, unknown>>;
  readonly wireit: Readonly<Record<string, unknown>>;
}

/** What the text of a package.json says. Undefined if there is none, or it is not valid. */
export function packageIn(text: string | undefined): PackageFile | undefined {
  if (text === undefined) return undefined;
  try {
    return packageSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** A folder of a workspace, in which tests are searched. Each file is read once. */
export class ProjectFolder {
  /** Absolute. */
  readonly folder: string;
  readonly #texts = new Map<string, Promise<string | undefined>>();
  #names: Promise<ReadonlySet<string>> | undefined;

  constructor(folder: string) {
    this.folder = folder;
  }

  async has(...names: string[]): Promise<boolean> {
    const found = await this.#entries();
    return names.some((name) => found.has(name));
  }

  /** The text of a file. Undefined if it is missing or not a text. */
  async text(name: string): Promise<string | undefined> {
    const known = this.#texts.get(name);
    if (known) return await known;
    const reading = readSource(path.join(this.folder, name)).catch(() => undefined);
    this.#texts.set(name, reading);
    return await reading;
  }

  async packageFile(): Promise<PackageFile | undefined> {
    return packageIn(await this.text('package.json'));
  }

  /**
   * Whether a file, a few levels deep, matches by its relative path and, optionally, its text. A folder with one of `manifests` is a
   * project of its own and is skipped.
   */
  async hasFile(name: RegExp, which: { text?: RegExp; manifests?: readonly string[] }): Promise<boolean> {
    for await (const _ of this.files(name, which)) return true;
    return false;
  }

  /** The files that `hasFile` looks for, those of outer folders first. */
  async *files(name: RegExp, { text, manifests = [] }: { text?: RegExp; manifests?: readonly string[] }): AsyncGenerator<string> {
    for await (const relative of this.#files(name, manifests))
      if (text === undefined || text.test(await readSource(path.join(this.folder, relative)).catch(() => ''))) yield relative;
  }

  /** The files whose relative path matches, a few levels deep. */
  async filesNamed(name: RegExp): Promise<readonly string[]> {
    const found: string[] = [];
    for await (const relative of this.#files(name, [])) found.push(relative);
    return found;
  }

  async *#files(name: RegExp, manifests: readonly string[]): AsyncGenerator<string> {
    const folders = [{ relative: '', depth: 0 }];
    for (let seen = 0; seen < MAX_FOLDERS; seen += 1) {
      const next = folders.shift();
      if (!next) return;
      const entries = await readdir(path.join(this.folder, next.relative), { withFileTypes: true }).catch(() => []);
      if (next.depth > 0 && entries.some((entry) => manifests.includes(entry.name))) continue;
      for (const entry of entries) {
        const relative = path.posix.join(next.relative, entry.name);
        if (entry.isDirectory() && isOwnFolder(entry.name) && next.depth < MAX_DEPTH) {
          folders.push({ relative, depth: next.depth + 1 });
        } else if (entry.isFile() && name.test(relative)) yield relative;
      }
    }
  }

  #entries(): Promise<ReadonlySet<string>> {
    this.#names ??= readdir(this.folder).then((names) => new Set(names), () => new Set<string>());
    return this.#names;
  }
}

export function isOwnFolder(name: string): boolean {
  return !name.startsWith('.') && !FOREIGN_FOLDERS.has(name);
}

/**
 * Reads a text of the workspace. Only a regular file of limited size is read: reading a pipe could wait for ever, and a device or a huge
 * file would fill the memory. @throws an error of the file system, or one that says that it is not a source text
 */
async function readSource(file: string): Promise<string> {
  const handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const found = await handle.stat();
    if (!found.isFile() || found.size > MAX_FILE_BYTES) throw new Error(`${file} is not a source text.`);
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}

/** Whether the path exists, as a file of any kind. */
export async function exists(file: string): Promise<boolean> {
  return await lstat(file).then(() => true, () => false);
}
