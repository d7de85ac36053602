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
 * The copy's own `.git`, where the workspace has one: tools that look for the root of a repository find it, and nothing else. It has
 * no commit to read the fix from, no branch, no remote, no reflog and no hook.
 */
const EMPTY_REPOSITORY = {
  folders: ['.git/objects', '.git/refs'],
  files: {
    '.git/HEAD': 'ref: refs/heads/main\n',
    '.git/config': '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = false\n',
  },
};

/** Some file systems tell times two seconds apart: whatever was changed so shortly before it was read may have been changed since. */
const COARSEST_CLOCK_NS = 2_000_000_000n;

/** Contents that no file has any more are kept until they are this much and twice what the workspace holds. */
const GARBAGE_BYTES = 256 * 1024 ** 2;

/** A workspace as it was at one moment. */
export interface WorkspaceState {
  readonly tree: CopyTree;
  /** Files and links of the workspace itself. */
  readonly paths: ReadonlySet<string>;
  readonly sharedFolders: readonly string[];
  /** SHA-256 of all of it. */
  readonly fingerprint: string;
  /** How large a copy is. */
  readonly bytes: number;
}

interface KnownFile {
  readonly version: FileVersion;
  readonly entry: CopyEntry;
}

interface Fingerprinted {
  readonly tree: CopyTree;
  /** Of what is installed. */
  readonly versions: readonly string[];
  readonly fingerprint: string;
}

/** What is remembered of one workspace, so that a second look reads only what has changed. */
export class KeptWorkspace {
  readonly contents: ContentStore;
  readonly #base: string;
  readonly #installed: string;
  readonly #slices: Slices;
  #known: ReadonlyMap<string, KnownFile> = new Map();
  #liveBytes = 0;
  #last: Fingerprinted | undefined;

  private constructor(contents: ContentStore, base: string, installed: string, slices: Slices) {
    this.contents = contents;
    this.#base = base;
    this.#installed = installed;
    this.#slices = slices;
  }

  /** `base` and `installed` (see `WorkspaceSource`) are absolute and without symbolic links. */
  static async create(base: string, installed: string, folders: RunFolders, slices: Slices): Promise<KeptWorkspace> {
    return new KeptWorkspace(await ContentStore.create(folders), base, installed, slices);
  }

  /** Whether most of what is kept belongs to nothing any more, so that it is better begun anew. */
  get isMostlyGarbage(): boolean {
    return this.contents.bytes - this.#liveBytes > this.#liveBytes + GARBAGE_BYTES;
  }

  /**
   * The state of the workspace now. What vanishes meanwhile and what may not be read is left out, as it would be for the user's own
   * tests. One look at a time. Throws `WorkspaceCopyError`, an error of the file system, or the signal's reason.
   */
  async look(signal: AbortSignal): Promise<WorkspaceState> {
    const readAtNs = BigInt(Date.now()) * 1_000_000n;
    const { files, links } = await listWorkspace(this.#base, { slices: this.#slices, signal, likely: this.#known.keys() });
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
    const { folders, versions } = await shareDependencies(tree, [this.#installed, this.#base], this.#slices);
    await this.contents.flush();
    this.#last = this.#sameAs(tree, versions) ?? { tree, versions, fingerprint: await this.#fingerprintOf(tree, paths, versions) };
    this.#known = known;
    this.#liveBytes = bytes;
    return { tree: this.#last.tree, paths, sharedFolders: folders, fingerprint: this.#last.fingerprint, bytes };
  }

  #read({ path, mode }: ListedFile): CopyEntry | undefined {
    const content = readRegularFile(`${this.#base}/${path}`);
    return content && { kind: 'file', content: this.contents.add(content), size: content.length, mode: copyMode(mode) };
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

  /** That of the look before, where nothing has changed since: a copy that was brought to its very tree needs not be compared with it. */
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
      // The links to what is installed say where the workspace lies, which makes no difference.
      else lines.push(`${path}\0${paths.has(path) || !entry.target.startsWith('/') ? entry.target : ''}`);
    });
    lines.sort();
    const sha = createHash('sha256');
    await this.#slices.forEach(lines, (line) => void sha.update(`${line}\0\0`));
    return sha.digest('hex');
  }
}

/** The copy is the tests' to write, whatever the modes in the workspace are. */
const copyMode = (mode: number): number => mode | 0o600;

function isSameVersion(one: FileVersion, other: FileVersion): boolean {
  return one.ino === other.ino && one.ctimeNs === other.ctimeNs && one.mtimeNs === other.mtimeNs && one.size === other.size;
}

/** Undefined if it is no regular file any more, or may not be read. */
function readRegularFile(absolute: string): Buffer | undefined {
  const descriptor = openToRead(absolute);
  if (descriptor === undefined) return undefined;
  try {
    const found = fstatSync(descriptor);
    if (!found.isFile()) return undefined;
    const content = Buffer.allocUnsafe(Math.min(found.size, LARGE_BYTES));
    // A file that grows meanwhile is read again next time: its inode has changed.
    return content.subarray(0, readSync(descriptor, content, 0, content.length, 0));
  } finally {
    closeSync(descriptor);
  }
}

/** What has taken a file's place is neither followed nor waited for. Undefined if it is gone or may not be read. */
function openToRead(absolute: string): number | undefined {
  try {
    return openSync(absolute, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}
