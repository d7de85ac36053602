import { lstatSync, readdirSync, realpathSync, type BigIntStats, type Dirent } from 'node:fs';
import path from 'node:path';

/** Tells which folders below `base` (absolute, without symbolic links) are folders and reached without following a link. */
export class PlainFolders {
  readonly #base: string;
  readonly #known = new Map<string, boolean>([['', true]]);

  constructor(base: string) {
    this.#base = base;
  }

  /** `folder` is relative, with forward slashes. */
  has(folder: string): boolean {
    const known = this.#known.get(folder);
    if (known !== undefined) return known;
    const name = folder.slice(folder.lastIndexOf('/') + 1);
    const found = !['', '.', '..'].includes(name)
      && this.has(parentOf(folder))
      && lookAt(`${this.#base}/${folder}`)?.isDirectory() === true;
    this.#known.set(folder, found);
    return found;
  }
}

/** Of a relative path with forward slashes; '' is the folder that it is relative to. */
export function parentOf(relative: string): string {
  return relative.slice(0, Math.max(0, relative.lastIndexOf('/')));
}

/** What lies there, links not followed; undefined if nothing does or it may not be looked at. */
export function lookAt(absolute: string): BigIntStats | undefined {
  try {
    return lstatSync(absolute, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** What is in a folder (absolute); empty if it cannot be read. */
export function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** Where a link leads in the end; undefined if it leads nowhere. */
export function realPathOf(link: string): string | undefined {
  try {
    return realpathSync(link);
  } catch {
    return undefined;
  }
}

export function isInside(base: string, candidate: string): boolean {
  const relative = path.relative(base, candidate);
  return relative === '' || (!relative.startsWith(`..${path.sep}`) && relative !== '..' && !path.isAbsolute(relative));
}
