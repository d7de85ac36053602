import { randomBytes } from 'node:crypto';
import { accessSync, chmodSync, constants, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { CHANNEL } from '../../process-group.ts';
import { RUN_SCRIPT } from '../script.ts';
import { systemCallFilter } from '../system-call-filter.ts';
import { SandboxLineError, type WalledLine, type WallsAround } from '../walled-line.ts';
import { buildView, enterView, keepWorkingDirectory, openProcesses } from './build-view.ts';
import { enterLastNamespace, enterNamespaces, type Identity } from './enter-namespaces.ts';
import * as linux from './linux-constants.ts';
import { END, StepList, type Place, type Slot } from './step-list.ts';
import { STATUS, STEPS_DESCRIPTOR, stepMachine } from './step-machine.ts';

/**
 * The command line for Linux without bubblewrap: the same namespaces, mounts and filter, by system calls of our own.
 * docs/decisions/0033-walls-without-bubblewrap.md says why.
 *
 * @param folder where a file may be for a moment, absolute; other ones are tried as well @throws SandboxLineError, an error of the file system
 */
export function namespacesLine(walls: WallsAround, folder: string): WalledLine {
  const identity = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  return {
    line: machineIn(folder),
    input: namespacesProgram(walls, process.arch, identity),
    release: () => undefined,
  };
}

/** The open file of the step machine. */
let opened: number | undefined;

/** A path of the program of the steps. Its file has no name any more, so that nothing is left behind and nobody can change it. */
function machineIn(folder: string): string {
  opened ??= openMachine(folder);
  return `/proc/${process.pid}/fd/${opened}`;
}

function openMachine(folder: string): number {
  const machine = stepMachine(process.arch);
  if (!machine) throw new SandboxLineError(`There is no sandbox for processors of type ${process.arch} yet.`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const places = [folder, tmpdir(), '/dev/shm'];
  let failure: unknown;
  for (const place of places) {
    const file = path.join(place, `${process.pid}-${randomBytes(4).toString('hex')}-step-machine`);
    try {
      writeFileSync(file, machine, { mode: 0o500, flag: 'wx' });
      // Whatever mask of rights we have.
      chmodSync(file, 0o500);
      if (mayBeStarted(file)) return openSync(file, 'r');
    } catch (error) {
      // Such as a full disk.
      failure ??= error;
    } finally {
      rmSync(file, { force: true });
    }
  }
  throw failure ?? new SandboxLineError(`No program may be started in ${places.join(', ')}: mount one of them without "noexec", or install bubblewrap.`);
}

/** Mounts can forbid it. */
function mayBeStarted(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The steps that make the walls and start the shell with `RUN_SCRIPT` inside them, in our environment. @throws SandboxLineError */
export function namespacesProgram(walls: WallsAround, architecture: NodeJS.Architecture, identity: Identity): Uint8Array {
  const list = new StepList(architecture);
  const filter = systemCallFilter(architecture) ?? Buffer.alloc(0);
  const first: Place = {};
  const command: Place = {};
  const started: Slot = {};
  const probed: Slot = {};

  list.doing('Reading the steps');
  list.add('close', [STEPS_DESCRIPTOR]);
  // What the backend was started with. It would be open inside, too.
  closeDescriptors(list, CHANNEL + 1);
  keepWorkingDirectory(list);
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
  // Nobody inside may look into it: the files that it has open, and its program, are of the outside. Another program is not bound by that.
  list.add('prctl', [linux.PR_SET_DUMPABLE, 0, 0, 0, 0]);
  list.doing('Starting a process');
  list.add('clone', [linux.SIGCHLD, 0, 0, 0, 0], { zero: command, result: probed });
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

function endWithParent(list: StepList): void {
  list.doing('Ending with the backend');
  list.add('prctl', [linux.PR_SET_PDEATHSIG, linux.SIGKILL, 0, 0, 0]);
}

/** All from this one on, or but the standard ones. */
function closeDescriptors(list: StepList, first = STEPS_DESCRIPTOR): void {
  list.add('close_range', [first, 0xffff_ffff, 0]);
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

/** No capabilities, no way to new ones, and the filter. */
function dropRights(list: StepList, filter: Uint8Array): void {
  const noMore: Place = {};
  list.doing('Giving up rights');
  for (let capability = 0; capability < linux.CAPABILITIES; capability += 1) {
    // Who may give up the first one may give up all that there are.
    list.add('prctl', [linux.PR_CAPBSET_DROP, capability, 0, 0, 0], capability === 0 ? {} : { failed: noMore });
  }
  list.put(noMore);
  list.add('capset', [list.words([linux.CAPABILITY_VERSION_3]), list.words([0, 0, 0])]);
  list.add('prctl', [linux.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0]);
  // A change of rights can take that back: prctl(2).
  endWithParent(list);
  list.doing('Filtering system calls');
  list.add('seccomp', [linux.SECCOMP_SET_MODE_FILTER, 0, list.words([filter.length / FILTER_INSTRUCTION_BYTES, list.bytes(filter)])]);
}

const FILTER_INSTRUCTION_BYTES = 8;
