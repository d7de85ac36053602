import {
  chmodSync, closeSync, constants, fchmodSync, fstatSync, lstatSync, lutimesSync, mkdirSync, opendirSync, openSync, renameSync, rmdirSync,
  unlinkSync, utimesSync, type BigIntStats, type Dirent,
} from 'node:fs';
import { chmod, copyFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { ContentStore } from './content-store.ts';
import { isSameEntry, type CopyEntry, type CopyTree } from '../files/copy-tree.ts';
import { makeLink } from '../files/make-link.ts';
import { removeTree } from '../files/remove-tree.ts';
import type { RunFolder } from '../files/run-folder.ts';
import type { Slices } from '../../common/slices.ts';

/** If tests leave more files than this, a new copy is faster than removing them. */
const MAX_STRANGERS = 10_000;

/** The coarsest file systems have times of two seconds' resolution. */
const TICK_MS = 1;
const MAX_TICKS = 2_500;

/** The changes that tests made to a copy cannot be undone. The copy must be removed. */
export class CopyBeyondRepairError extends Error {
  override readonly name = 'CopyBeyondRepairError';
}

interface Held {
  readonly entry: CopyEntry;
  readonly ino: bigint;
  readonly ctimeNs: bigint;
}

/**
 * A copy of a workspace on disk. It records what it wrote to each file and detects later changes: a process in the sandbox can reset a
 * file's mtime, but neither its inode number nor its ctime. Contents are written or reflinked, never hard-linked, because a test that
 * writes in place must not change the user's file.
 *
 * Extended attributes of folders are not checked: the sandbox lets nothing set them.
 */
export class WorkspaceCopy {
  readonly #folder: RunFolder;
  readonly #slices: Slices;
  #held = new Map<string, Held>();
  /** The tree of the last `bringTo`. */
  #tree: CopyTree | undefined;
  /** Entries of that tree that were removed because tests touched them. */
  #lost: string[] = [];
  /** Permission bits of the folders that this copy made, parents first. */
  #modes = new Map<string, number>();
  #lastWritten: bigint | undefined;
  #settled: Promise<void> = Promise.resolve();
  /** The pending removals of folders that were moved away. */
  #removing: Promise<void> = Promise.resolve();
  #moved = 0;

  /** `folder` must belong to this copy alone. */
  constructor(folder: RunFolder, slices: Slices) {
    this.#folder = folder;
    this.#slices = slices;
  }

  /** Absolute, without symbolic links. */
  get path(): string {
    return this.#folder.workspace;
  }

  /** See `RunFolder`. */
  get shown(): string {
    return this.#folder.shown;
  }

  /**
   * Makes the copy contain exactly `tree`, by writing the differences from the previous tree. If tests have run since then, `settle` must
   * be called first. No process may use the copy meanwhile. Throws an error of the file system, or the signal's reason; the copy can then
   * only be removed.
   */
  async bringTo(tree: CopyTree, contents: ContentStore, signal: AbortSignal): Promise<void> {
    await this.#folder.touch();
    const isSame = this.#tree === tree;
    await this.#slices.forEach(isSame ? [] : this.#held, ([relative, { entry }]) => {
      const wanted = tree.entries.get(relative);
      if (wanted && isSameEntry(wanted, entry)) return;
      unlinkSync(this.#at(relative));
      this.#held.delete(relative);
    });
    // Children before their parents.
    for (const folder of [...this.#modes.keys()].reverse()) {
      if (tree.folders.has(folder)) continue;
      rmdirSync(this.#at(folder));
      this.#modes.delete(folder);
    }
    await this.#slices.forEach(tree.folders, (folder) => {
      if (!this.#modes.has(folder)) this.#makeFolder(folder);
    });
    await this.#slices.forEach(isSame ? this.#lost : tree.entries.keys(), (relative) => {
      signal.throwIfAborted();
      const entry = this.#held.has(relative) ? undefined : tree.entries.get(relative);
      return entry && this.#write(relative, entry, contents);
    });
    this.#tree = tree;
    this.#lost = [];
    this.#resetTimesOfFolders();
    await this.#waitForNextTick();
  }

  /**
   * Removes all files that tests added or touched. No process may use the copy meanwhile or afterwards. Throws `CopyBeyondRepairError`, or
   * an error of the file system; the copy can then only be removed.
   */
  async settle(): Promise<void> {
    this.#settled = this.#removeStrangers();
    await this.#settled;
  }

  async remove(): Promise<void> {
    await this.#settled.catch(() => undefined);
    await this.#removing;
    await this.#folder.remove();
  }

  #at(relative: string): string {
    return relative === '' ? this.path : `${this.path}/${relative}`;
  }

  async #removeStrangers(): Promise<void> {
    const held = new Map<string, Held>();
    const modes = new Map<string, number>();
    let strangers = 0;
    await this.#slices.forEach(this.#walk(modes), ([relative, found]) => {
      const untouched = this.#untouched(relative);
      if (untouched) return void held.set(relative, untouched);
      if (++strangers > MAX_STRANGERS) throw new CopyBeyondRepairError('Too many files were left in the copy.');
      if (found.isDirectory()) this.#moveAway(relative);
      else unlinkSync(this.#at(relative));
    });
    for (const relative of this.#held.keys()) if (!held.has(relative)) this.#lost.push(relative);
    this.#held = held;
    this.#modes = modes;
  }

  /** Yields all entries of the copy's own folders except these folders. `modes` receives those that still exist. Follows no links. */
  *#walk(modes: Map<string, number>): Generator<readonly [relative: string, found: Dirent]> {
    const toWalk = [''];
    for (let folder = toWalk.pop(); folder !== undefined; folder = toWalk.pop()) {
      const mode = this.#modes.get(folder) ?? 0o755;
      if (modeOf(this.#at(folder)) !== mode) chmodSync(this.#at(folder), mode);
      modes.set(folder, mode);
      const directory = opendirSync(this.#at(folder), { bufferSize: 256 });
      try {
        for (let found = directory.readSync(); found; found = directory.readSync()) {
          // A name that is not UTF-8 is decoded with replacement characters, so its file cannot be addressed.
          if (found.name.includes('\uFFFD')) throw new CopyBeyondRepairError('A file whose name is not UTF-8 was left in the copy.');
          const relative = folder === '' ? found.name : `${folder}/${found.name}`;
          if (found.isDirectory() && this.#modes.has(relative)) toWalk.push(relative);
          else yield [relative, found];
        }
      } finally {
        directory.closeSync();
      }
    }
  }

  /** Otherwise they would say which folders earlier runs wrote to, and could carry any number that a run set. */
  #resetTimesOfFolders(): void {
    const now = new Date();
    for (const folder of ['', ...this.#modes.keys()]) lutimesSync(this.#at(folder), now, now);
  }

  #untouched(relative: string): Held | undefined {
    const held = this.#held.get(relative);
    if (!held) return undefined;
    const { ino, ctimeNs } = lstatSync(this.#at(relative), { bigint: true });
    return ino === held.ino && ctimeNs === held.ctimeNs ? held : undefined;
  }

  #makeFolder(folder: string): void {
    mkdirSync(this.#at(folder), { mode: 0o755 });
    this.#modes.set(folder, modeOf(this.#at(folder)));
  }

  /** Moving takes no time, whatever the folder's size. The removal runs in the background. */
  #moveAway(folder: string): void {
    // A folder must be writable to be moved.
    chmodSync(this.#at(folder), 0o700);
    const moved = path.join(this.#folder.temporary, String(this.#moved++));
    renameSync(this.#at(folder), moved);
    // If the removal fails, the folder is removed with the copy.
    this.#removing = this.#removing.then(() => removeTree(moved)).catch(() => undefined);
  }

  #write(relative: string, entry: CopyEntry, contents: ContentStore): void | Promise<void> {
    const absolute = this.#at(relative);
    if (entry.kind === 'link') {
      makeLink(entry.target, absolute);
      return this.#hold(relative, entry, lstatSync(absolute, { bigint: true }));
    }
    const large = contents.largeFile(entry.content);
    if (large !== undefined) return this.#writeLarge(relative, entry, large);
    const descriptor = openSync(absolute, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, entry.mode);
    try {
      contents.writeSmall(entry.content, descriptor);
      let found = fstatSync(descriptor, { bigint: true });
      if ((Number(found.mode) & 0o777) !== entry.mode) {
        fchmodSync(descriptor, entry.mode);
        found = fstatSync(descriptor, { bigint: true });
      }
      this.#hold(relative, entry, found);
    } finally {
      closeSync(descriptor);
    }
  }

  async #writeLarge(relative: string, entry: CopyEntry & { kind: 'file' }, from: string): Promise<void> {
    const absolute = this.#at(relative);
    await copyFile(from, absolute, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
    await chmod(absolute, entry.mode);
    this.#hold(relative, entry, lstatSync(absolute, { bigint: true }));
  }

  #hold(relative: string, entry: CopyEntry, { ino, ctimeNs }: BigIntStats): void {
    this.#held.set(relative, { entry, ino, ctimeNs });
    this.#lastWritten = ctimeNs;
  }

  /** File times have a limited resolution. A change in the same tick as the last write would not be detected, so waits for the next tick. */
  async #waitForNextTick(): Promise<void> {
    if (this.#lastWritten === undefined) return;
    const probe = path.join(this.#folder.root, 'clock');
    closeSync(openSync(probe, 'a'));
    for (let tick = 0; touched(probe) === this.#lastWritten; tick += 1) {
      // The file system has no usable times, so no file counts as untouched.
      if (tick === MAX_TICKS) return this.#forget();
      await setTimeout(TICK_MS);
    }
    this.#lastWritten = undefined;
  }

  #forget(): void {
    this.#held.clear();
    this.#tree = undefined;
  }
}

const modeOf = (absolute: string): number => lstatSync(absolute).mode & 0o7777;

/** Touches the file and returns its ctime, which is the current time of the file system. */
function touched(file: string): bigint {
  utimesSync(file, new Date(), new Date());
  return lstatSync(file, { bigint: true }).ctimeNs;
}
