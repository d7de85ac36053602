import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { RUN_SCRIPT } from '../script.ts';
import { shellQuote } from '../../shell-quote.ts';
import { systemCallFilter } from '../system-call-filter.ts';
import { SandboxLineError, type WalledLine, type WallsAround } from '../walled-line.ts';
import type { Call } from '../call-numbers.ts';
import * as linux from './linux-constants.ts';
import { END, StepList, type Argument, type Place, type Slot, type Then } from './step-list.ts';
import { SCRATCH, STATUS, STEPS_DESCRIPTOR, stepMachine } from './step-machine.ts';
import { mountPoints, type Mount } from './view.ts';

/** The user and group that a command has inside as outside. */
export interface Identity {
  readonly uid: number;
  readonly gid: number;
}

/**
 * The command line for Linux without bubblewrap: the same namespaces, mounts and filter, by system calls of our own.
 * docs/decisions/0033-walls-without-bubblewrap.md says why.
 *
 * @param folder for our program, absolute @throws SandboxLineError, an error of the file system
 */
export function namespacesLine(walls: WallsAround, folder: string): WalledLine {
  const identity = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  return {
    line: shellQuote(machineIn(folder)),
    input: namespacesProgram(walls, process.arch, identity),
    release: () => undefined,
  };
}

/** Writes the program of the steps, if it is not there. Several backends may do so at the same time. */
function machineIn(folder: string): string {
  const machine = stepMachine(process.arch);
  if (!machine) throw new SandboxLineError(`There is no sandbox for processors of type ${process.arch} yet.`);
  const file = path.join(folder, 'step-machine');
  try {
    if (readFileSync(file).equals(machine)) return file;
  } catch {
    // Not there yet.
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const written = `${file}-${process.pid}`;
  rmSync(written, { force: true });
  writeFileSync(written, machine, { mode: 0o700 });
  // Whatever mask of rights we have.
  chmodSync(written, 0o700);
  renameSync(written, file);
  return file;
}

/** Where the view of the outside and the new one are while the new one is built. */
const OUTSIDE = '/outside';
const INSIDE = '/inside';
/** A folder of every system, over which they are built. */
const BASE = '/tmp';
const outside = (place: string): string => `${OUTSIDE}${place}`;
const inside = (place: string): string => `${INSIDE}${place}`;

/** A path of the longest kind. */
const WORKING_DIRECTORY_BYTES = 4_096;
const WORKING_DIRECTORY = SCRATCH + WORKING_DIRECTORY_BYTES;

/** The steps that make the walls and start the shell with `RUN_SCRIPT` inside them, in our environment. @throws SandboxLineError */
export function namespacesProgram(walls: WallsAround, architecture: NodeJS.Architecture, identity: Identity): Uint8Array {
  const list = new StepList(architecture);
  const filter = systemCallFilter(architecture) ?? Buffer.alloc(0);
  const [first, command]: Place[] = [{}, {}];
  const [started, probed]: Slot[] = [{}, {}];

  list.doing('Reading the steps');
  list.add('close', [STEPS_DESCRIPTOR]);
  list.add('getcwd', [WORKING_DIRECTORY, WORKING_DIRECTORY_BYTES]);
  enterNamespaces(list, identity);
  endWithParent(list);
  list.doing('Starting a process');
  list.add('clone', [linux.SIGCHLD, 0, 0, 0, 0], { zero: first, result: started });
  closeDescriptors(list);
  list.add('wait4', [started, STATUS, 0, 0], { failed: END, zero: END, positive: END });

  // The first process of the new namespace. All others in it end with it.
  list.put(first);
  endWithParent(list);
  list.doing('Beginning a session');
  list.add('setsid', []);
  startLoopback(list);
  buildView(list, walls);
  const processes = openProcesses(list);
  enterView(list, walls.shown?.at);
  enterLastNamespace(list, processes, identity);
  dropRights(list, filter);
  list.doing('Starting a process');
  list.add('clone', [linux.SIGCHLD, 0, 0, 0, 0], { zero: command, result: probed });
  // Nobody inside may look into it.
  list.add('prctl', [linux.PR_SET_DUMPABLE, 0, 0, 0, 0]);
  closeDescriptors(list);
  const waiting: Place = {};
  list.put(waiting);
  list.add('wait4', [-1, STATUS, 0, 0], { failed: END });
  // Other processes end here, too, whose parents are gone. The command's is gone when it can no longer be signalled.
  list.add('kill', [probed, 0], { zero: waiting, failed: END });

  list.put(command);
  list.doing('Starting /bin/sh');
  list.add('execve', ['/bin/sh', list.words(['sh', '-c', RUN_SCRIPT, 0]), list.environment]);
  return list.program();
}

/** New namespaces for users, mounts, process ids, IPC and the network. Root may make the others also where those for users are forbidden. */
function enterNamespaces(list: StepList, identity: Identity): void {
  const [asRoot, done]: Place[] = [{}, {}];
  const others = linux.CLONE_NEWNS | linux.CLONE_NEWPID | linux.CLONE_NEWIPC | linux.CLONE_NEWNET;
  list.doing('Making namespaces');
  list.add('unshare', [linux.CLONE_NEWUSER | others], identity.uid === 0 ? { failed: asRoot } : {});
  mapUser(list, identity, (file, then) => openToWrite(list, linux.AT_FDCWD, `/proc/${file}`, then));
  // Of this namespace: one more, see `enterLastNamespace`. In a container, settings may be read-only.
  const setting = openToWrite(list, linux.AT_FDCWD, '/proc/sys/user/max_user_namespaces', { failed: done });
  list.add('write', [setting, '1', 1], { failed: done, zero: done, positive: done });
  if (identity.uid === 0) {
    list.put(asRoot);
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

function endWithParent(list: StepList): void {
  list.doing('Ending with the backend');
  list.add('prctl', [linux.PR_SET_PDEATHSIG, linux.SIGKILL, 0, 0, 0]);
}

/** All but the standard ones. */
function closeDescriptors(list: StepList): void {
  list.add('close_range', [STEPS_DESCRIPTOR, 0xffff_ffff, 0]);
}

/** The kernel gives it its addresses. */
function startLoopback(list: StepList): void {
  const socket: Slot = {};
  const request = Buffer.alloc(40);
  request.write('lo');
  request.writeUInt16LE(linux.IFF_UP, 16);
  list.doing('Starting the loopback of a network');
  list.add('socket', [linux.AF_INET, linux.SOCK_DGRAM | linux.SOCK_CLOEXEC, 0], { result: socket });
  list.add('ioctl', [socket, linux.SIOCSIFFLAGS, list.bytes(request)]);
}

function buildView(list: StepList, walls: WallsAround): void {
  list.doing('Leaving the mounts of the machine');
  list.add('mount', ['none', '/', 0, linux.MS_REC | linux.MS_PRIVATE, 0]);
  mountMemory(list, BASE);
  list.add('mkdirat', [linux.AT_FDCWD, `${BASE}${INSIDE}`, 0o755]);
  list.add('mkdirat', [linux.AT_FDCWD, `${BASE}${OUTSIDE}`, 0o755]);
  list.add('pivot_root', [BASE, `${BASE}${OUTSIDE}`]);
  list.add('chdir', ['/']);
  bind(list, OUTSIDE, INSIDE, READ_ONLY);
  for (const { folders, mount } of mountPoints(walls)) {
    list.doing(mount.at);
    for (const folder of folders) tryTo(list, 'mkdirat', [linux.AT_FDCWD, inside(folder), 0o755]);
    addMount(list, mount);
  }
  list.doing('/dev');
  addDevices(list);
  list.doing('/proc');
  list.add('mount', ['proc', inside('/proc'), 'proc', linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC, 0]);
}

function addMount(list: StepList, mount: Mount): void {
  const at = inside(mount.at);
  if (mount.as === 'empty') return mountMemory(list, at);
  if (mount.as === 'no file') return bind(list, outside('/dev/null'), at, READ_ONLY);
  // It is there already where nothing around it is hidden.
  if (mount.isFolder) tryTo(list, 'mkdirat', [linux.AT_FDCWD, at, 0o755]);
  else tryTo(list, 'mknodat', [linux.AT_FDCWD, at, linux.S_IFREG | 0o644, 0]);
  bind(list, outside(mount.from), at, mount.as === 'read-only' ? READ_ONLY : WRITABLE);
}

const WRITABLE = linux.MOUNT_ATTR_NOSUID | linux.MOUNT_ATTR_NODEV;
const READ_ONLY = linux.MOUNT_ATTR_RDONLY | WRITABLE;

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
    list.add('mount', [outside(device), inside(device), 0, linux.MS_BIND, 0]);
    setAttributes(list, inside(device), linux.MOUNT_ATTR_NOSUID);
  }
  for (const name of ['pts', 'shm']) list.add('mkdirat', [linux.AT_FDCWD, inside(`/dev/${name}`), 0o755]);
  list.add('mount', ['devpts', inside('/dev/pts'), 'devpts', linux.MS_NOSUID | linux.MS_NOEXEC, 'newinstance,ptmxmode=0666,mode=620']);
  const links = { stdin: '/proc/self/fd/0', stdout: '/proc/self/fd/1', stderr: '/proc/self/fd/2', fd: '/proc/self/fd', core: '/proc/kcore', ptmx: 'pts/ptmx' };
  for (const [name, target] of Object.entries(links)) list.add('symlinkat', [target, linux.AT_FDCWD, inside(`/dev/${name}`)]);
}

/** The processes of the outside, as files that are not in the view. Each is for one use. */
function openProcesses(list: StepList): readonly Slot[] {
  return [1, 2, 3].map(() => {
    const folder: Slot = {};
    list.add('openat', [linux.AT_FDCWD, outside('/proc'), linux.O_PATH | linux.O_CLOEXEC, 0], { result: folder });
    return folder;
  });
}

/** Leaves nothing but the new view, and goes to the working directory in it. */
function enterView(list: StepList, workingDirectory: string | number = WORKING_DIRECTORY): void {
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

/**
 * One more namespace for users, which is the last that can be made, as bubblewrap's `--disable-userns` does: who gained rights in it would
 * have none over the mounts. Where there are none for users, only the filter refuses new ones.
 */
function enterLastNamespace(list: StepList, processes: readonly Slot[], identity: Identity): void {
  const none: Place = {};
  list.add('unshare', [linux.CLONE_NEWUSER], { failed: none });
  const [...left] = processes;
  mapUser(list, identity, (file) => openToWrite(list, left.shift() ?? {}, file));
  list.put(none);
}

/** No capabilities, no way to new ones, and the filter. */
function dropRights(list: StepList, filter: Uint8Array): void {
  const noMore: Place = {};
  // The rights of before count for this signal no longer.
  endWithParent(list);
  list.doing('Giving up rights');
  for (let capability = 0; capability < linux.CAPABILITIES; capability += 1) list.add('prctl', [linux.PR_CAPBSET_DROP, capability, 0, 0, 0], { failed: noMore });
  list.put(noMore);
  list.add('capset', [list.words([linux.CAPABILITY_VERSION_3]), list.words([0, 0, 0])]);
  list.add('prctl', [linux.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0]);
  list.doing('Filtering system calls');
  list.add('seccomp', [linux.SECCOMP_SET_MODE_FILTER, 0, list.words([filter.length / FILTER_INSTRUCTION_BYTES, list.bytes(filter)])]);
}

const FILTER_INSTRUCTION_BYTES = 8;

/** Goes on also where it fails. */
function tryTo(list: StepList, call: Call, values: readonly Argument[]): void {
  const next: Place = {};
  list.add(call, values, { failed: next });
  list.put(next);
}
