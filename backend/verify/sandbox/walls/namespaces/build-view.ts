import type { Call } from '../call-numbers.ts';
import type { WallsAround } from '../walled-line.ts';
import * as linux from './linux-constants.ts';
import { mountPoints, type Mount } from './mount-points.ts';
import type { Argument, Place, Slot, StepList } from './step-list.ts';
import { SCRATCH } from './step-machine.ts';

/** Where the view of the outside and the new one are while the new one is built. */
const OUTSIDE = '/outside';
const INSIDE = '/inside';
/** A folder of every system, over which they are built. */
const BASE = '/tmp';
const outside = (place: string): string => `${OUTSIDE}${place}`;
const inside = (place: string): string => `${INSIDE}${place}`;

/** Builds what a command sees beside what is there. `enterView` goes there. */
export function buildView(list: StepList, walls: WallsAround): void {
  list.doing('Leaving the mounts of the machine');
  list.add('mount', ['none', '/', 0, linux.MS_REC | linux.MS_PRIVATE, 0]);
  mountMemory(list, BASE);
  list.add('mkdirat', [linux.AT_FDCWD, `${BASE}${INSIDE}`, 0o755]);
  list.add('mkdirat', [linux.AT_FDCWD, `${BASE}${OUTSIDE}`, 0o755]);
  list.add('pivot_root', [BASE, `${BASE}${OUTSIDE}`]);
  list.add('chdir', ['/']);
  bind(list, OUTSIDE, INSIDE, READ_ONLY);
  for (const { folders, mount } of mountPoints(walls)) {
    list.doing(`Mounting ${mount.at}`);
    for (const folder of folders) tryTo(list, 'mkdirat', [linux.AT_FDCWD, inside(folder), 0o755]);
    addMount(list, mount);
  }
  list.doing('Mounting /dev');
  addDevices(list);
  list.doing('Mounting /proc');
  list.add('mount', ['proc', inside('/proc'), 'proc', linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC, 0]);
}

function addMount(list: StepList, mount: Mount): void {
  const at = inside(mount.at);
  if (!('isFolder' in mount)) return mount.as === 'empty' ? mountMemory(list, at) : bind(list, outside('/dev/null'), at, READ_ONLY);
  // It is there already where nothing around it is hidden.
  if (mount.isFolder) tryTo(list, 'mkdirat', [linux.AT_FDCWD, at, 0o755]);
  else tryTo(list, 'mknodat', [linux.AT_FDCWD, at, linux.S_IFREG | 0o644, 0]);
  if (mount.as === 'linked') bind(list, inside(mount.to), at, AS_THEY_ARE);
  else bind(list, outside(mount.from), at, mount.as === 'read-only' ? READ_ONLY : WRITABLE);
}

const WRITABLE = linux.MOUNT_ATTR_NOSUID | linux.MOUNT_ATTR_NODEV;
const READ_ONLY = linux.MOUNT_ATTR_RDONLY | WRITABLE;
/** Attributes are only ever added. */
const AS_THEY_ARE = 0;
/** Where root is the owner of a device, it could change its rights and times for all of the machine. It can be written nevertheless. */
const DEVICE = linux.MOUNT_ATTR_RDONLY | linux.MOUNT_ATTR_NOSUID;

/** Shows a place at another one, with all that is mounted in it. */
function bind(list: StepList, from: string, to: string, attributes: number): void {
  list.add('mount', [from, to, 0, linux.MS_BIND | linux.MS_REC, 0]);
  setAttributes(list, to, attributes);
}

function setAttributes(list: StepList, place: string, attributes: number): void {
  list.add('mount_setattr', [linux.AT_FDCWD, place, linux.AT_RECURSIVE, list.words([attributes, 0, 0, 0]), 32]);
}

function mountMemory(list: StepList, at: string): void {
  list.add('mount', ['tmpfs', at, 'tmpfs', linux.MS_NOSUID | linux.MS_NODEV, 'mode=0755']);
}

/** A small /dev, as bubblewrap's `--dev` makes it. */
function addDevices(list: StepList): void {
  mountMemory(list, inside('/dev'));
  for (const name of ['null', 'zero', 'full', 'random', 'urandom', 'tty']) {
    const device = `/dev/${name}`;
    list.add('mknodat', [linux.AT_FDCWD, inside(device), linux.S_IFREG | 0o644, 0]);
    bind(list, outside(device), inside(device), DEVICE);
  }
  for (const name of ['pts', 'shm']) list.add('mkdirat', [linux.AT_FDCWD, inside(`/dev/${name}`), 0o755]);
  list.add('mount', ['devpts', inside('/dev/pts'), 'devpts', linux.MS_NOSUID | linux.MS_NOEXEC, 'newinstance,ptmxmode=0666,mode=620']);
  const links = { stdin: '/proc/self/fd/0', stdout: '/proc/self/fd/1', stderr: '/proc/self/fd/2', fd: '/proc/self/fd', core: '/proc/kcore', ptmx: 'pts/ptmx' };
  for (const [name, target] of Object.entries(links)) list.add('symlinkat', [target, linux.AT_FDCWD, inside(`/dev/${name}`)]);
}

/** The processes of the outside, as files that are not in the view. Each is for one use. */
export function openProcesses(list: StepList): readonly Slot[] {
  return [1, 2, 3].map(() => {
    const folder: Slot = {};
    list.add('openat', [linux.AT_FDCWD, outside('/proc'), linux.O_PATH | linux.O_CLOEXEC, 0], { result: folder });
    return folder;
  });
}

/** A path of the longest kind. */
const WORKING_DIRECTORY_BYTES = 4_096;
const WORKING_DIRECTORY = SCRATCH + WORKING_DIRECTORY_BYTES;

/** Keeps the working directory in mind, before any view is built. */
export function keepWorkingDirectory(list: StepList): void {
  list.doing('Finding the working directory');
  list.add('getcwd', [WORKING_DIRECTORY, WORKING_DIRECTORY_BYTES]);
}

/** Leaves nothing but the new view, and goes to the working directory in it. */
export function enterView(list: StepList, workingDirectory: string | number = WORKING_DIRECTORY): void {
  list.doing('Leaving the file system of the machine');
  setAttributes(list, inside('/proc'), linux.MOUNT_ATTR_RDONLY);
  list.add('umount2', [OUTSIDE, linux.MNT_DETACH]);
  list.add('chdir', [INSIDE]);
  list.add('pivot_root', ['.', '.']);
  list.add('umount2', ['.', linux.MNT_DETACH]);
  list.add('chdir', ['/']);
  list.doing('Going to the working directory');
  list.add('chdir', [workingDirectory]);
}

/** Goes on also where it fails. */
function tryTo(list: StepList, call: Call, values: readonly Argument[]): void {
  const next: Place = {};
  list.add(call, values, { failed: next });
  list.put(next);
}
