import { realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import type { WallsAround } from '../walled-line.ts';

/** What a command sees at a place: an empty file system in memory, a file without content, or what is at that or another place outside. */
export type Mount = Empty | Shown;

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

export interface MountPoint {
  /** What must be made in an empty file system first, the outer folders in front. */
  readonly folders: readonly string[];
  readonly mount: Mount;
}

/**
 * What is mounted over a read-only view of everything, the outer places first. Of several words about one place, the one that allows more
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
      // A link in a hidden folder is not there. What it leads to takes its place.
      for (const at of [from, path.join(realpathSync(path.dirname(entry)), path.basename(entry))]) wanted.set(at, { at, as, from, isFolder });
    }
  }
  if (shown) wanted.set(shown.at, { at: shown.at, as: 'writable', from: shown.folder, isFolder: true });
  const points: MountPoint[] = [];
  const placed = new Map<string, Mount>();
  // An outer place has a shorter name.
  for (const mount of [...wanted.values()].sort((one, other) => one.at.length - other.at.length)) {
    const around = nearest(placed, mount.at);
    if (!changes(mount, around)) continue;
    placed.set(mount.at, mount);
    points.push({ mount, folders: around?.as === 'empty' ? between(around.at, mount.at) : [] });
  }
  return points;
}

/** Whether a mount shows anything else than what is mounted around it. Around all is the read-only view. */
function changes(mount: Mount, around: Mount | undefined): boolean {
  if (!('from' in mount)) return around?.as !== 'empty';
  // A link that can be seen is left as it is.
  if (mount.as === 'read-only' || mount.from !== mount.at) return around?.as === 'empty';
  return around?.as !== 'writable';
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
