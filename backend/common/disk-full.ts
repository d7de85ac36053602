const CODES: readonly unknown[] = ['ENOSPC', 'EDQUOT'];

/** Whether a file system error says that the disk is full or a quota is used up. */
export function isDiskFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && CODES.includes(error.code);
}
