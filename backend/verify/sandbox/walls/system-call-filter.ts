/**
 * The filter of system calls for a command in the Linux sandbox (seccomp(2), classic BPF). Bubblewrap installs it. It refuses what
 * bubblewrap cannot block: sockets that lead out of the sandbox's own network, the kernel's keyrings, which all processes of a user share,
 * and the calls behind most escapes from namespaces.
 */

/** The ABI (linux/audit.h) and the call numbers (asm/unistd.h) per architecture. */
const ARCHITECTURES: Partial<Record<NodeJS.Architecture, { audit: number; calls: Readonly<Record<Call, number>> }>> = {
  x64: {
    audit: 0xc000003e,
    calls: {
      ...sameEverywhere(),
      ...{ socket: 41, clone: 56, pivot_root: 155, mount: 165, umount2: 166, add_key: 248, request_key: 249, keyctl: 250 },
      ...{ unshare: 272, perf_event_open: 298, setns: 308, bpf: 321, userfaultfd: 323, setxattr: 188, lsetxattr: 189, fsetxattr: 190 },
    },
  },
  arm64: {
    audit: 0xc00000b7,
    calls: {
      ...sameEverywhere(),
      ...{ umount2: 39, mount: 40, pivot_root: 41, unshare: 97, socket: 198, add_key: 217, request_key: 218, keyctl: 219 },
      ...{ clone: 220, perf_event_open: 241, setns: 268, bpf: 280, userfaultfd: 282, setxattr: 5, lsetxattr: 6, fsetxattr: 7 },
    },
  },
};

type NewCall = keyof ReturnType<typeof sameEverywhere>;
type Call =
  | NewCall
  | 'socket'
  | 'clone'
  | 'unshare'
  | 'setns'
  | 'mount'
  | 'umount2'
  | 'pivot_root'
  | 'add_key'
  | 'request_key'
  | 'keyctl'
  | 'bpf'
  | 'perf_event_open'
  | 'userfaultfd'
  | 'setxattr'
  | 'lsetxattr'
  | 'fsetxattr';

/** New calls have the same number on all architectures. */
function sameEverywhere() {
  return {
    ...{ io_uring_setup: 425, io_uring_enter: 426, io_uring_register: 427, open_tree: 428, move_mount: 429, fsopen: 430 },
    ...{ fsconfig: 431, fsmount: 432, fspick: 433, clone3: 435, mount_setattr: 442, setxattrat: 463 },
  };
}

/** errno(3) */
const EPERM = 1;
const ENOSYS = 38;
const EOPNOTSUPP = 95;

/** The allowed families: IPv4, IPv6, and netlink, which lists network interfaces. Unix sockets would reach other programs' listeners. */
const SOCKET_FAMILIES = [2, 10, 16];

/** clone(2)'s CLONE_NEW… for mount, cgroup, UTS, IPC, user, process id and network namespaces. */
const NEW_NAMESPACES = 0x7e020000;

const REFUSED: readonly Call[] = [
  ...(['unshare', 'setns', 'mount', 'umount2', 'pivot_root', 'open_tree', 'move_mount', 'fsopen', 'fsconfig', 'fsmount'] as const),
  ...(['fspick', 'mount_setattr', 'add_key', 'request_key', 'keyctl', 'bpf', 'perf_event_open', 'userfaultfd'] as const),
];

/**
 * Calls that fail as unknown to the kernel, so that programs use older ones. A filter cannot see the flags of clone3, and io_uring creates
 * sockets past the filter.
 */
const UNKNOWN: readonly Call[] = ['clone3', 'io_uring_setup', 'io_uring_enter', 'io_uring_register'];

/**
 * Calls that fail as on a file system without extended attributes. Copies of a workspace are used again, and an attribute of a folder would
 * tell the next run of this one.
 */
const UNSUPPORTED: readonly Call[] = ['setxattr', 'lsetxattr', 'fsetxattr', 'setxattrat'];

/** linux/bpf_common.h, linux/seccomp.h */
const LOAD = 0x20;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_AT_LEAST = 0x35;
const JUMP_IF_ANY_BIT = 0x45;
const RETURN = 0x06;
const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const failWith = (errno: number): number => 0x00050000 | errno;

/** Offsets in `struct seccomp_data`. Of the first argument only the lower half is needed here. */
const CALL_NUMBER = 0;
const ARCHITECTURE = 4;
const FIRST_ARGUMENT = 16;

/** x32 programs set this bit in the call number. */
const X32_BIT = 0x40000000;

type Instruction = readonly [code: number, skipIfTrue: number, skipIfFalse: number, value: number];

/** The filter for this architecture. Undefined if its call numbers are not known. */
export function systemCallFilter(architecture: NodeJS.Architecture): Uint8Array | undefined {
  const found = ARCHITECTURES[architecture];
  if (!found) return undefined;
  const { audit, calls } = found;
  const answer = (call: Call, errno: number): Instruction[] => [
    [JUMP_IF_EQUAL, 0, 1, calls[call]],
    [RETURN, 0, 0, failWith(errno)],
  ];
  return assemble([
    // Programs of another architecture use other call numbers.
    [LOAD, 0, 0, ARCHITECTURE],
    [JUMP_IF_EQUAL, 1, 0, audit],
    [RETURN, 0, 0, KILL],
    [LOAD, 0, 0, CALL_NUMBER],
    [JUMP_IF_AT_LEAST, 0, 1, X32_BIT],
    [RETURN, 0, 0, failWith(ENOSYS)],
    ...REFUSED.flatMap((call) => answer(call, EPERM)),
    ...UNKNOWN.flatMap((call) => answer(call, ENOSYS)),
    ...UNSUPPORTED.flatMap((call) => answer(call, EOPNOTSUPP)),
    [JUMP_IF_EQUAL, 0, 4, calls.clone],
    [LOAD, 0, 0, FIRST_ARGUMENT],
    [JUMP_IF_ANY_BIT, 0, 1, NEW_NAMESPACES],
    [RETURN, 0, 0, failWith(EPERM)],
    [RETURN, 0, 0, ALLOW],
    [JUMP_IF_EQUAL, 0, SOCKET_FAMILIES.length + 2, calls.socket],
    [LOAD, 0, 0, FIRST_ARGUMENT],
    ...SOCKET_FAMILIES.map((family, index): Instruction => [JUMP_IF_EQUAL, SOCKET_FAMILIES.length - index, 0, family]),
    [RETURN, 0, 0, failWith(EPERM)],
    [RETURN, 0, 0, ALLOW],
  ]);
}

/** `struct sock_filter`s in little-endian byte order, as on both architectures. */
function assemble(program: readonly Instruction[]): Uint8Array {
  const bytes = Buffer.alloc(program.length * 8);
  program.forEach(([code, skipIfTrue, skipIfFalse, value], index) => {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(skipIfTrue, index * 8 + 2);
    bytes.writeUInt8(skipIfFalse, index * 8 + 3);
    bytes.writeUInt32LE(value, index * 8 + 4);
  });
  return bytes;
}
