import * as linux from './linux-constants.ts';
import type { Place, Slot, StepList, Then } from './step-list.ts';

/** The user and group that a command has inside as outside. */
export interface Identity {
  readonly uid: number;
  readonly gid: number;
}

const MAKING = 'Making namespaces';

/** New namespaces for users, mounts, process ids, IPC and the network. Root may make the others also where those for users are forbidden. */
export function enterNamespaces(list: StepList, identity: Identity): void {
  const asRoot: Place = {};
  const done: Place = {};
  const others = linux.CLONE_NEWNS | linux.CLONE_NEWPID | linux.CLONE_NEWIPC | linux.CLONE_NEWNET;
  list.doing(MAKING);
  list.add('unshare', [linux.CLONE_NEWUSER | others], identity.uid === 0 ? { failed: asRoot } : {});
  mapUser(list, identity, (file, then) => openToWrite(list, linux.AT_FDCWD, `/proc/${file}`, then));
  // Of this namespace: one more, see `enterLastNamespace`. In a container, settings may be read-only.
  const setting = openToWrite(list, linux.AT_FDCWD, '/proc/sys/user/max_user_namespaces', { failed: done });
  list.add('write', [setting, '1', 1], { failed: done, zero: done, positive: done });
  if (identity.uid === 0) {
    list.put(asRoot);
    list.doing(MAKING);
    list.add('unshare', [others]);
  }
  list.put(done);
}

/** The user and group stay who they are. */
function mapUser(list: StepList, { uid, gid }: Identity, open: (file: string, then?: Then) => Slot): void {
  list.doing('Keeping the user in a namespace');
  for (const [file, text] of [['self/setgroups', 'deny'], ['self/uid_map', `${uid} ${uid} 1`], ['self/gid_map', `${gid} ${gid} 1`]] as const) {
    list.add('write', [open(file), text, text.length]);
  }
}

/** A step that opens a file, and the argument of a later step that takes it. It is closed when a program starts. */
function openToWrite(list: StepList, folder: number | Slot, file: string, then: Then = {}): Slot {
  const descriptor: Slot = {};
  list.add('openat', [folder, file, linux.O_WRONLY | linux.O_CLOEXEC, 0], { ...then, result: descriptor });
  return descriptor;
}

/**
 * One more namespace for users, which is the last that can be made, as bubblewrap's `--disable-userns` does: who gained rights in it would
 * have none over the mounts. Where there are none for users, only the filter refuses new ones.
 */
export function enterLastNamespace(list: StepList, processes: readonly Slot[], identity: Identity): void {
  const none: Place = {};
  list.add('unshare', [linux.CLONE_NEWUSER], { failed: none });
  const [...left] = processes;
  mapUser(list, identity, (file) => openToWrite(list, left.shift() ?? {}, file));
  list.put(none);
}
