import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';

/** Replaces a file whole or not at all, on disk when it returns; it is readable by its owner alone. @throws file system errors */
export async function replaceFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    const handle = await open(temporary, 'wx', 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
}
