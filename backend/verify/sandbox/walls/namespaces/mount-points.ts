import { realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import type { WallsAround } from '../walled-line.ts';

/** What a command sees at a place: an empty file system in memory, a file without content, or what is at that or another place. */
export type Mount = Empty | Shown | Linked;

interface Empty {
  readonly at: string;
  readonly as: 'empty' | 'no content';
}

interface Shown {
  readonly at: string;
  readonly as: 'read-only' | 'writable';
  readonly from: string;
  readonly isFolder: boolean;
}

/** In place of a link: what the view itself has where the link leads to, with all that is hidden in it. */
interface Linked {
  readonly at: string;
  readonly as: 'linked';
  readonly to: string;
  readonly isFolder: boolean;
}

export interface MountPoint {
  /** What must be made in an empty file system first, the outer folders in front. */
  readonly folders: readonly string[];
  readonly mount: Mount;
}

/**
 * What is mounted over a read-only view of everything, the outer places first, and those in place of links last. Of several words about one place, the one that allows more
 * holds; a word about what is inside a place is stronger than one about the place.
 */
export function mountPoints({ hidden, readable, writable, shown }: WallsAround): readonly MountPoint[] {
  const wanted = new Map<string, Mount>();
  for (const entry of hidden) {
    const at = realpathSync(entry);
    wanted.set(at, { at, as: statSync(at).isDirectory() ? 'empty' : 'no content' });
  }
  for (const [as, entries] of [['read-only', readable], ['writable', writable]] as const) {
    for (const entry of entries) {
      const from = realpathSync(entry);
      const isFolder = statSync(from).isDirectory();
      wanted.set(from, { at: from, as, from, isFolder });
      // A link in a hidden folder is not there. What it leads to takes its place.
      const at = path.join(realpathSync(path.dirname(entry)), path.basename(entry));
      if (at !== from) wanted.set(at, { at, as: 'linked', to: from, isFolder });
    }
  }
  if (shown) wanted.set(shown.at, { at: shown.at, as: 'writable', from: shown.folder, isFolder: true });
  const points: MountPoint[] = [];
  const placed = new Map<string, Mount>();
  // An outer place has a shorter name.
  for (const mount of [...wanted.values()].sort((one, other) => Number(one.as === 'linked') - Number(other.as === 'linked') || one.at.length - other.at.length)) {
    const around = nearest(placed, mount.at);
    if (!changes(mount, around)) continue;
    placed.set(mount.at, mount);
    points.push({ mount, folders: around?.as === 'empty' ? between(around.at, mount.at) : [] });
  }
  return points;
}

/** Whether a mount shows anything else than what is mounted around it. Around all is the read-only view. */
function changes(mount: Mount, around: Mount | undefined): boolean {
  switch (mount.as) {
    case 'empty':
    case 'no content':
      return around?.as !== 'empty';
    case 'writable':
      return around?.as !== 'writable';
    // A link that can be seen is left as it is.
    case 'read-only':
    case 'linked':
      return around?.as === 'empty';
  }
}

function nearest(placed: ReadonlyMap<string, Mount>, place: string): Mount | undefined {
  for (let folder = path.dirname(place); folder !== '/'; folder = path.dirname(folder)) {
    const found = placed.get(folder);
    if (found) return found;
  }
  return undefined;
}

function between(outer: string, inner: string): string[] {
  const folders: string[] = [];
  for (let folder = path.dirname(inner); folder !== outer; folder = path.dirname(folder)) folders.unshift(folder);
  return folders;
}
