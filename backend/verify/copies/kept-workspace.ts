import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { ContentStore, LARGE_BYTES } from './content-store.ts';
import { CopyTree, type CopyEntry } from '../files/copy-tree.ts';
import { shareDependencies } from './installed-dependencies.ts';
import { lookAt } from '../files/plain-folders.ts';
import type { RunFolders } from '../files/run-folder.ts';
import type { Slices } from '../../common/slices.ts';
import { listWorkspace, type FileVersion, type ListedFile } from './workspace-listing.ts';

/**
 * The copy gets this empty `.git` if the workspace has one, so that tools find the root of the repository. It has no commit to read the
 * fix from, no branch, no remote, no reflog and no hook.
 */
const EMPTY_REPOSITORY = {
  folders: ['.git/objects', '.git/refs'],
  files: {
    '.git/HEAD': 'ref: refs/heads/main\n',
    '.git/config': '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = false\n',
  },
};

/** Some file systems have times of two seconds' resolution. A file changed this shortly before the read may have changed again unnoticed. */
const COARSEST_CLOCK_NS = 2_000_000_000n;

/** Contents that no file has any more are kept until they exceed the size of the workspace by this much. */
const GARBAGE_BYTES = 256 * 1024 ** 2;

/** The state of a workspace at one moment. */
export interface WorkspaceState {
  readonly tree: CopyTree;
  /** Files and links of the workspace, without what the copy adds. */
  readonly paths: ReadonlySet<string>;
  /** See `Listing.secret`. */
  readonly secret: readonly string[];
  readonly sharedFolders: readonly string[];
  /** SHA-256 of the whole state. */
  readonly fingerprint: string;
  /** The size of a copy. */
  readonly bytes: number;
}

export interface KeptWorkspaceOptions {
  readonly slices: Slices;
  /** See `ListOptions`. */
  readonly withSecrets: boolean;
}

interface KnownFile {
  readonly version: FileVersion;
  readonly entry: CopyEntry;
}

interface Fingerprinted {
  readonly tree: CopyTree;
  /** Versions of the installed dependencies. */
  readonly versions: readonly string[];
  readonly fingerprint: string;
}

/** Remembers the state of one workspace, so that the next `look` reads only changed files. */
export class KeptWorkspace {
  readonly contents: ContentStore;
  readonly #base: string;
  readonly #installed: string;
  readonly #slices: Slices;
  readonly #withSecrets: boolean;
  #known: ReadonlyMap<string, KnownFile> = new Map();
  #liveBytes = 0;
  #last: Fingerprinted | undefined;

  private constructor(contents: ContentStore, base: string, installed: string, { slices, withSecrets }: KeptWorkspaceOptions) {
    this.contents = contents;
    this.#base = base;
    this.#installed = installed;
    this.#slices = slices;
    this.#withSecrets = withSecrets;
  }

  /** `base` and `installed` (see `WorkspaceSource`) are absolute and without symbolic links. */
  static async create(base: string, installed: string, folders: RunFolders, options: KeptWorkspaceOptions): Promise<KeptWorkspace> {
    return new KeptWorkspace(await ContentStore.create(folders), base, installed, options);
  }

  /** Whether most stored contents are unused, so that a new store is better. */
  get isMostlyGarbage(): boolean {
    return this.contents.bytes - this.#liveBytes > this.#liveBytes + GARBAGE_BYTES;
  }

  /**
   * Returns the current state of the workspace. Leaves out files that vanish meanwhile or cannot be read: the user's own tests could not
   * read them either. Calls must not overlap. Throws `WorkspaceCopyError`, an error of the file system, or the signal's reason.
   */
  async look(signal: AbortSignal): Promise<WorkspaceState> {
    const readAtNs = BigInt(Date.now()) * 1_000_000n;
    const { files, links, secret } = await listWorkspace(this.#base, { slices: this.#slices, signal, likely: this.#known.keys(), withSecrets: this.#withSecrets });
    const tree = new CopyTree();
    const known = new Map<string, KnownFile>();
    let bytes = 0;
    const take = (file: ListedFile, entry: CopyEntry): void => {
      tree.add(file.path, entry);
      bytes += file.size;
      if (file.version.ctimeNs < readAtNs - COARSEST_CLOCK_NS) known.set(file.path, { version: file.version, entry });
    };
    await this.#slices.forEach(files, (file) => {
      signal.throwIfAborted();
      const before = this.#known.get(file.path);
      if (before && isSameVersion(before.version, file.version)) return take(file, before.entry);
      if (file.size > LARGE_BYTES) return this.#readLarge(file, signal).then((entry) => entry && take(file, entry));
      const entry = this.#read(file);
      if (entry) take(file, entry);
      return this.contents.shouldFlush ? this.contents.flush() : undefined;
    });
    for (const { path, target } of links) tree.add(path, { kind: 'link', target });
    const paths = new Set(tree.entries.keys());
    if (lookAt(`${this.#base}/.git`)) this.#addRepository(tree);
    const { folders, versions } = await shareDependencies(tree, [this.#installed, this.#base], this.#slices, (absolute) => this.#readInstalled(absolute, signal));
    await this.contents.flush();
    this.#last = this.#sameAs(tree, versions) ?? { tree, versions, fingerprint: await this.#fingerprintOf(tree, paths, versions) };
    this.#known = known;
    this.#liveBytes = bytes;
    return { tree: this.#last.tree, paths, secret, sharedFolders: folders, fingerprint: this.#last.fingerprint, bytes };
  }

  #read({ path, mode }: ListedFile): CopyEntry | undefined {
    const content = readRegularFile(`${this.#base}/${path}`);
    return content && { kind: 'file', content: this.contents.add(content), size: content.length, mode: copyMode(mode) };
  }

  async #readInstalled(absolute: string, signal: AbortSignal): Promise<CopyEntry | undefined> {
    const found = lookAt(absolute);
    if (!found) return undefined;
    const mode = copyMode(Number(found.mode) & 0o777);
    if (found.size > LARGE_BYTES) return { kind: 'file', ...(await this.contents.addFile(absolute, signal)), mode };
    const content = readRegularFile(absolute);
    return content && { kind: 'file', content: this.contents.add(content), size: content.length, mode };
  }

  async #readLarge({ path, mode }: ListedFile, signal: AbortSignal): Promise<CopyEntry | undefined> {
    const absolute = `${this.#base}/${path}`;
    try {
      return { kind: 'file', ...(await this.contents.addFile(absolute, signal)), mode: copyMode(mode) };
    } catch (error) {
      const descriptor = openToRead(absolute);
      if (descriptor === undefined) return undefined;
      closeSync(descriptor);
      throw error;
    }
  }

  #addRepository(tree: CopyTree): void {
    for (const folder of EMPTY_REPOSITORY.folders) tree.addFolder(folder);
    for (const [path, text] of Object.entries(EMPTY_REPOSITORY.files)) {
      const content = Buffer.from(text);
      tree.add(path, { kind: 'file', content: this.contents.add(content), size: content.length, mode: 0o644 });
    }
  }

  /** Returns the previous state if nothing has changed. A copy with the identical tree then needs no comparison. */
  #sameAs(tree: CopyTree, versions: readonly string[]): Fingerprinted | undefined {
    const last = this.#last;
    const isSame = last && last.versions.length === versions.length && last.versions.every((version, index) => version === versions[index])
      && last.tree.hasSameEntries(tree);
    return isSame ? last : undefined;
  }

  async #fingerprintOf(tree: CopyTree, paths: ReadonlySet<string>, versions: readonly string[]): Promise<string> {
    const lines = versions.map((version) => `installed\0${version}`);
    await this.#slices.forEach(tree.entries, ([path, entry]) => {
      if (entry.kind === 'file') lines.push(`${path}\0${entry.mode}\0${entry.content}`);
      // Links to installed dependencies contain the path of the workspace, which does not matter.
      else lines.push(`${path}\0${paths.has(path) || !entry.target.startsWith('/') ? entry.target : ''}`);
    });
    lines.sort();
    const sha = createHash('sha256');
    await this.#slices.forEach(lines, (line) => void sha.update(`${line}\0\0`));
    return sha.digest('hex');
  }
}

/** Tests may write every file of the copy, even files that are read-only in the workspace. */
const copyMode = (mode: number): number => mode | 0o600;

function isSameVersion(one: FileVersion, other: FileVersion): boolean {
  return one.ino === other.ino && one.ctimeNs === other.ctimeNs && one.mtimeNs === other.mtimeNs && one.size === other.size;
}

/** Undefined if it is no longer a regular file or cannot be read. */
function readRegularFile(absolute: string): Buffer | undefined {
  const descriptor = openToRead(absolute);
  if (descriptor === undefined) return undefined;
  try {
    const found = fstatSync(descriptor);
    if (!found.isFile()) return undefined;
    const content = Buffer.allocUnsafe(Math.min(found.size, LARGE_BYTES));
    // A file that grows meanwhile is read again next time, because its inode changes.
    return content.subarray(0, readSync(descriptor, content, 0, content.length, 0));
  } finally {
    closeSync(descriptor);
  }
}

/** If a link or a pipe has replaced the file, does not follow it or wait for it. Undefined if the file is gone or cannot be read. */
function openToRead(absolute: string): number | undefined {
  try {
    return openSync(absolute, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}
