const CODES = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EIO', 'EROFS', 'EACCES', 'EPERM']);

/** An error of the file system or of starting a process that says something of this machine and nothing of the code that was to be run. */
export function isMachineError(error: unknown): error is NodeJS.ErrnoException {
  return CODES.has((error as NodeJS.ErrnoException | undefined)?.code ?? '');
}
