/* Constants of Linux, by the names of their manual pages. They are the same for all processors that we run on. */

/** fcntl.h */
export const AT_FDCWD = -100;
export const O_WRONLY = 1;
export const O_PATH = 0o10000000;
export const O_CLOEXEC = 0o2000000;
export const S_IFREG = 0o100000;

/** clone(2) */
export const CLONE_NEWNS = 0x00020000;
export const CLONE_NEWIPC = 0x08000000;
export const CLONE_NEWUSER = 0x10000000;
export const CLONE_NEWPID = 0x20000000;
export const CLONE_NEWNET = 0x40000000;
export const SIGCHLD = 17;
export const SIGKILL = 9;

/** mount(2), umount(2) */
export const MS_NOSUID = 2;
export const MS_NODEV = 4;
export const MS_NOEXEC = 8;
export const MS_BIND = 0x1000;
export const MS_REC = 0x4000;
export const MS_PRIVATE = 0x40000;
export const MNT_DETACH = 2;

/** mount_setattr(2) */
export const AT_RECURSIVE = 0x8000;
export const MOUNT_ATTR_RDONLY = 1;
export const MOUNT_ATTR_NOSUID = 2;
export const MOUNT_ATTR_NODEV = 4;

/** prctl(2), capset(2), seccomp(2) */
export const PR_SET_PDEATHSIG = 1;
export const PR_SET_DUMPABLE = 4;
export const PR_CAPBSET_DROP = 24;
export const PR_SET_NO_NEW_PRIVS = 38;
export const CAPABILITY_VERSION_3 = 0x20080522;
/** Capabilities have numbers below. */
export const CAPABILITIES = 64;
export const SECCOMP_SET_MODE_FILTER = 1;

/** socket(2), netdevice(7) */
export const AF_INET = 2;
export const SOCK_DGRAM = 2;
export const SOCK_CLOEXEC = O_CLOEXEC;
export const SIOCSIFFLAGS = 0x8914;
export const IFF_UP = 1;
