import { constants } from 'node:fs';
import { lstat, open, readdir } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { MAX_FILE_BYTES } from '../files/text-file.ts';

/** Folders that hold what others wrote, what a build left, or projects that are no more than data of tests. */
const FOREIGN_FOLDERS = new Set([
  ...['node_modules', 'vendor', 'target', 'build', 'dist', 'out', 'venv', 'env', '__pycache__', 'third_party', 'coverage'],
  ...['fixture', 'fixtures', '__fixtures__', 'testdata', 'test-data', '__mocks__'],
]);

/** How far and how wide test files are looked for: enough to see what a project uses, and little in a huge tree. */
const MAX_DEPTH = 6;
const MAX_FOLDERS = 500;

const packageSchema = z.object({
  scripts: z.record(z.string(), z.string()).catch({}).default({}),
  dependencies: z.record(z.string(), z.unknown()).catch({}).default({}),
  devDependencies: z.record(z.string(), z.unknown()).catch({}).default({}),
});

export interface PackageFile {
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, unknown>>;
  readonly devDependencies: Readonly<Record<string, unknown>>;
}

/** A folder of a workspace whose tests are looked for. What its files say is read once. */
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

  /** The text of a file, or undefined if it is not there or is no source text. */
  async text(name: string): Promise<string | undefined> {
    const known = this.#texts.get(name);
    if (known) return await known;
    const reading = readSource(path.join(this.folder, name)).catch(() => undefined);
    this.#texts.set(name, reading);
    return await reading;
  }

  async packageFile(): Promise<PackageFile | undefined> {
    const text = await this.text('package.json');
    if (text === undefined) return undefined;
    try {
      return packageSchema.parse(JSON.parse(text));
    } catch {
      return undefined;
    }
  }

  /**
   * Whether there is a file, a few levels deep, with such a path from here and, if asked for, such a text. A folder that has one of
   * `manifests` is a project of its own and is left out.
   */
  async hasFile(name: RegExp, { text, manifests = [] }: { text?: RegExp; manifests?: readonly string[] }): Promise<boolean> {
    for await (const relative of this.#files(name, manifests))
      if (text === undefined || text.test(await readSource(path.join(this.folder, relative)).catch(() => ''))) return true;
    return false;
  }

  /** The files with such a path from here, a few levels deep. */
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
 * A text of the workspace, which may hold anything under any name: a pipe would keep its reader waiting for ever, and a device or
 * a huge file would fill the memory. @throws what is wrong with it
 */
async function readSource(file: string): Promise<string> {
  const handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const found = await handle.stat();
    if (!found.isFile() || found.size > MAX_FILE_BYTES) throw new Error(`${file} is no source text.`);
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}

/** Whether something is there, whatever it is. */
export async function exists(file: string): Promise<boolean> {
  return await lstat(file).then(() => true, () => false);
}
