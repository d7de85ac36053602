import {
  chmodSync, closeSync, constants, fchmodSync, fstatSync, lstatSync, mkdirSync, opendirSync, openSync, renameSync, symlinkSync,
  unlinkSync, utimesSync, type BigIntStats, type Dirent,
} from 'node:fs';
import { chmod, copyFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { ContentStore } from './content-store.ts';
import { isSameEntry, type CopyEntry, type CopyTree } from './copy-tree.ts';
import { removeTree } from './remove-tree.ts';
import type { RunFolder } from './run-folder.ts';
import type { Slices } from './slices.ts';

/** With more files than these to remove one by one, a new copy is made sooner. */
const MAX_STRANGERS = 10_000;

/** File systems tell times two seconds apart at worst. */
const TICK_MS = 1;
const MAX_TICKS = 2_500;

/** What tests have done to a copy is not undone one by one: it is to be removed as a whole. */
export class CopyBeyondRepairError extends Error {
  override readonly name = 'CopyBeyondRepairError';
}

interface Held {
  readonly entry: CopyEntry;
  readonly ino: bigint;
  readonly ctimeNs: bigint;
}

/**
 * A copy of a workspace on disk, which knows of every file what it wrote there, and can tell whether that has been touched since: a
 * process in the sandbox can set back when a file was modified, but neither its inode nor when that was changed. Contents are
 * written or reflinked, never hard-linked: a test that writes in place must not reach the user's file.
 *
 * Extended attributes of folders are not looked at.
 */
export class WorkspaceCopy {
  readonly #folder: RunFolder;
  readonly #slices: Slices;
  #held = new Map<string, Held>();
  /** Permission bits of the folders that were made here. */
  readonly #modes = new Map<string, number>();
  #lastWritten: bigint | undefined;
  #removing: Promise<void> = Promise.resolve();
  #moved = 0;

  /** `folder` is this copy's alone. */
  constructor(folder: RunFolder, slices: Slices) {
    this.#folder = folder;
    this.#slices = slices;
  }

  /** Absolute, without symbolic links. */
  get path(): string {
    return this.#folder.workspace;
  }

  /**
   * Makes the copy hold `tree` and nothing else, by writing what differs. Nothing else may be at work in it meanwhile. After an error
   * it is only good to be removed: `CopyBeyondRepairError`, one of the file system, or the signal's reason.
   */
  async bringTo(tree: CopyTree, contents: ContentStore, signal: AbortSignal): Promise<void> {
    await this.#folder.touch();
    if (this.#modes.size === 0) this.#makeFolder('');
    const folders = await this.#keepWhatBelongs(tree, signal);
    await this.#slices.forEach(tree.folders, (folder) => {
      if (!folders.has(folder)) this.#makeFolder(folder);
    });
    await this.#slices.forEach(tree.entries, ([relative, entry]) => {
      signal.throwIfAborted();
      return this.#held.has(relative) ? undefined : this.#write(relative, entry, contents);
    });
    await this.#waitForNextTick();
  }

  async remove(): Promise<void> {
    await this.#removing;
    await this.#folder.remove();
  }

  #at(relative: string): string {
    return relative === '' ? this.path : `${this.path}/${relative}`;
  }

  /** Removes what is not as in `tree`. Returns the folders that are there. */
  async #keepWhatBelongs(tree: CopyTree, signal: AbortSignal): Promise<ReadonlySet<string>> {
    const kept = new Map<string, Held>();
    const folders = new Set<string>();
    let strangers = 0;
    await this.#slices.forEach(this.#walk(tree, folders), ([relative, found]) => {
      signal.throwIfAborted();
      const held = this.#untouched(relative, tree);
      if (held) return void kept.set(relative, held);
      if (++strangers > MAX_STRANGERS) throw new CopyBeyondRepairError('Too many files were left in the copy.');
      if (found.isDirectory()) this.#moveAway(relative);
      else unlinkSync(this.#at(relative));
    });
    this.#held = kept;
    for (const folder of this.#modes.keys()) if (!folders.has(folder)) this.#modes.delete(folder);
    return folders;
  }

  /** All that lies in the folders of `tree`, but for these folders themselves, which `folders` receives. No link is followed. */
  *#walk(tree: CopyTree, folders: Set<string>): Generator<readonly [relative: string, found: Dirent]> {
    const toWalk = [''];
    for (let folder = toWalk.pop(); folder !== undefined; folder = toWalk.pop()) {
      this.#restoreMode(folder);
      folders.add(folder);
      const directory = opendirSync(this.#at(folder), { bufferSize: 256 });
      try {
        for (let found = directory.readSync(); found; found = directory.readSync()) {
          // A name that is not UTF-8 is not what it reads as.
          if (found.name.includes('\uFFFD')) throw new CopyBeyondRepairError('A file with a broken name was left in the copy.');
          const relative = folder === '' ? found.name : `${folder}/${found.name}`;
          if (found.isDirectory() && tree.folders.has(relative) && this.#modes.has(relative)) toWalk.push(relative);
          else yield [relative, found];
        }
      } finally {
        directory.closeSync();
      }
    }
  }

  #untouched(relative: string, tree: CopyTree): Held | undefined {
    const entry = tree.entries.get(relative);
    const held = this.#held.get(relative);
    if (!entry || !held || !isSameEntry(entry, held.entry)) return undefined;
    const { ino, ctimeNs } = lstatSync(this.#at(relative), { bigint: true });
    return ino === held.ino && ctimeNs === held.ctimeNs ? held : undefined;
  }

  #restoreMode(folder: string): void {
    const mode = this.#modes.get(folder);
    if (mode !== undefined && modeOf(this.#at(folder)) !== mode) chmodSync(this.#at(folder), mode);
  }

  #makeFolder(folder: string): void {
    mkdirSync(this.#at(folder), { mode: 0o755 });
    this.#modes.set(folder, modeOf(this.#at(folder)));
  }

  /** However much is in it, it is out of the way at once. */
  #moveAway(folder: string): void {
    // To be moved a folder must be writable.
    chmodSync(this.#at(folder), 0o700);
    const moved = path.join(this.#folder.temporary, String(this.#moved++));
    renameSync(this.#at(folder), moved);
    // What cannot be removed now is removed with the copy.
    this.#removing = this.#removing.then(() => removeTree(moved)).catch(() => undefined);
  }

  #write(relative: string, entry: CopyEntry, contents: ContentStore): void | Promise<void> {
    const absolute = this.#at(relative);
    if (entry.kind === 'link') {
      symlinkSync(entry.target, absolute);
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

  /** The clock of a file system goes in ticks, and what is done in the tick of our last write would look like our own. */
  async #waitForNextTick(): Promise<void> {
    if (this.#lastWritten === undefined) return;
    const probe = path.join(this.#folder.root, 'clock');
    closeSync(openSync(probe, 'a'));
    for (let tick = 0; touched(probe) === this.#lastWritten; tick += 1) {
      // A file system without such times: then nothing is taken for untouched.
      if (tick === MAX_TICKS) return this.#held.clear();
      await setTimeout(TICK_MS);
    }
    this.#lastWritten = undefined;
  }
}

const modeOf = (absolute: string): number => lstatSync(absolute).mode & 0o7777;

/** When the inode was changed, which is now. */
function touched(file: string): bigint {
  utimesSync(file, new Date(), new Date());
  return lstatSync(file, { bigint: true }).ctimeNs;
}
