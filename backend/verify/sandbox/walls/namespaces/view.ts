import { realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import type { WallsAround } from '../walled-line.ts';

/** What a command sees at a place: an empty file system in memory, an empty file, or what is at another or the same place outside. */
export type Mount =
  | { readonly at: string; readonly as: 'empty' | 'no file' }
  | { readonly at: string; readonly as: 'read-only' | 'writable'; readonly from: string; readonly isFolder: boolean };

/** The folders that must be made in an empty file system before something can be mounted there, the outer ones first. */
export interface MountPoint {
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
    wanted.set(at, { at, as: statSync(at).isDirectory() ? 'empty' : 'no file' });
  }
  for (const [as, entries] of [['read-only', readable], ['writable', writable]] as const) {
    for (const entry of entries) {
      const at = realpathSync(entry);
      wanted.set(at, { at, as, from: at, isFolder: statSync(at).isDirectory() });
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
  if (mount.as === 'writable') return around?.as !== 'writable' || mount.from !== mount.at;
  if (mount.as === 'read-only') return around?.as === 'empty';
  return around?.as !== 'empty';
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
