import { open } from 'node:fs/promises';

/** Of file systems, such as shared folders, on which a folder cannot be opened or synced. Their files are synced all the same. */
const UNSUPPORTED: readonly unknown[] = ['EACCES', 'EINVAL', 'EISDIR', 'ENOTSUP', 'EPERM'];

/** Brings the names in a folder to the disk. @throws file system errors */
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
