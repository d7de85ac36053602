import { open } from 'node:fs/promises';

/** Errors of file systems, such as shared folders, that cannot open or sync a folder. Their files can still be synced. */
const UNSUPPORTED: readonly unknown[] = ['EACCES', 'EINVAL', 'EISDIR', 'ENOTSUP', 'EPERM'];

/** Syncs the entries of a folder to disk. @throws file system errors */
export async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && UNSUPPORTED.includes(error.code))) throw error;
  }
}
