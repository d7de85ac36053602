import { callNumbers, type Call } from './call-numbers.ts';

/**
 * The filter of system calls for a command in the Linux sandbox (seccomp(2), classic BPF). It refuses what
 * namespaces cannot block: sockets that lead out of the sandbox's own network, the kernel's keyrings, which all processes of a user share,
 * and the calls behind most escapes from namespaces.
 */

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
  const found = callNumbers(architecture);
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
