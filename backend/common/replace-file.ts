import { randomUUID } from 'node:crypto';
import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { whileLocked } from './locked-file.ts';
import { syncFolder } from './sync-folder.ts';

/** Leaves room for the rest of the name: names have at most 255 bytes, and a UTF-16 unit takes up to three bytes in UTF-8. */
const NAME_LENGTH = 50;

export interface ReplaceOptions {
  /** Mode of the new file before the umask; 0o600 by default. */
  readonly mode?: number;
  /** True by default: the file survives a power cut. False for files that nobody needs after one, such as those of a temporary copy. */
  readonly isDurable?: boolean;
}

/**
 * Replaces a file atomically and, by default, durably. Writes a temporary file in the same folder and renames it, so that a symbolic link is replaced
 * and never followed. @throws file system errors, and errors of `content`
 */
export async function replaceFile(
  file: string, content: string | ((handle: FileHandle) => Promise<void>), { mode = 0o600, isDurable = true }: ReplaceOptions = {},
): Promise<void> {
  const folder = path.dirname(file);
  const temporary = path.join(folder, `.${path.basename(file).slice(0, NAME_LENGTH)}.${randomUUID()}.tmp`);
  try {
    const handle = await open(temporary, 'wx', mode);
    try {
      if (typeof content === 'string') await handle.writeFile(content);
      else await content(handle);
      if (isDurable) await handle.sync();
    } finally {
      await handle.close();
    }
    await whileLocked(() => rename(temporary, file));
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
  if (isDurable) await syncFolder(folder);
}
