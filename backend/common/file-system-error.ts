/** Whether the file system refused something: its message names the file and why, and is for people. */
export const isFileSystemError = (error: unknown): error is Error => error instanceof Error && 'syscall' in error && 'path' in error;
