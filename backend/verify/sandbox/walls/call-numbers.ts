/** A processor type's name in linux/audit.h, and its numbers of system calls (asm/unistd.h). */
export interface CallNumbers {
  readonly audit: number;
  readonly calls: Readonly<Record<Call, number>>;
}

export type Call = keyof ReturnType<typeof sameEverywhere> | keyof typeof X64;

const X64 = {
  ...{ write: 1, close: 3, ioctl: 16, socket: 41, clone: 56, execve: 59, wait4: 61, kill: 62, getcwd: 79, chdir: 80, setsid: 112, capset: 126 },
  ...{ pivot_root: 155, prctl: 157, mount: 165, umount2: 166, setxattr: 188, lsetxattr: 189, fsetxattr: 190, exit_group: 231, add_key: 248 },
  ...{ request_key: 249, keyctl: 250, openat: 257, mkdirat: 258, mknodat: 259, symlinkat: 266, unshare: 272, perf_event_open: 298, setns: 308 },
  ...{ seccomp: 317, bpf: 321, userfaultfd: 323 },
};

const ARM64: typeof X64 = {
  ...{ setxattr: 5, lsetxattr: 6, fsetxattr: 7, getcwd: 17, ioctl: 29, mknodat: 33, mkdirat: 34, symlinkat: 36, umount2: 39, mount: 40 },
  ...{ pivot_root: 41, chdir: 49, openat: 56, close: 57, write: 64, capset: 91, exit_group: 94, unshare: 97, kill: 129, setsid: 157, prctl: 167 },
  ...{ socket: 198, add_key: 217, request_key: 218, keyctl: 219, clone: 220, execve: 221, perf_event_open: 241, wait4: 260, setns: 268 },
  ...{ seccomp: 277, bpf: 280, userfaultfd: 282 },
};

/** New calls have the same number on all architectures. */
function sameEverywhere() {
  return {
    ...{ io_uring_setup: 425, io_uring_enter: 426, io_uring_register: 427, open_tree: 428, move_mount: 429, fsopen: 430 },
    ...{ fsconfig: 431, fsmount: 432, fspick: 433, clone3: 435, close_range: 436, mount_setattr: 442, setxattrat: 463 },
  };
}

/** Undefined if the numbers of this architecture are not known. */
export function callNumbers(architecture: NodeJS.Architecture): CallNumbers | undefined {
  if (architecture === 'x64') return { audit: 0xc000003e, calls: { ...sameEverywhere(), ...X64 } };
  if (architecture === 'arm64') return { audit: 0xc00000b7, calls: { ...sameEverywhere(), ...ARM64 } };
  return undefined;
}
