import { randomUUID } from 'node:crypto';
import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { syncFolder } from './sync-folder.ts';

/** Leaves room for the rest of the name: file systems take 255 bytes, and a character has up to three. */
const NAME_LENGTH = 50;

export interface ReplaceOptions {
  /** Of the new file, before the process's mask; readable by its owner alone where absent. */
  readonly mode?: number;
}

/**
 * Replaces a file whole or not at all; it is on disk on return. The content is written beside it first, so that a link in its place
 * is replaced and never followed. @throws file system errors, and what `content` throws
 */
export async function replaceFile(
  file: string, content: string | ((handle: FileHandle) => Promise<void>), { mode = 0o600 }: ReplaceOptions = {},
): Promise<void> {
  const folder = path.dirname(file);
  const temporary = path.join(folder, `.${path.basename(file).slice(0, NAME_LENGTH)}.${randomUUID()}.tmp`);
  try {
    const handle = await open(temporary, 'wx', mode);
    try {
      if (typeof content === 'string') await handle.writeFile(content);
      else await content(handle);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
  await syncFolder(folder);
}
