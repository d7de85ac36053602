import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';

/** The bytes of all files in a folder (absolute) and the folders in it; 0 where it is not there. */
export async function bytesIn(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  // A file may go meanwhile.
  const sizes = await Promise.all(names.map(async (name) => {
    const found = await lstat(path.join(folder, name)).catch(() => undefined);
    return found?.isFile() ? found.size : 0;
  }));
  return sizes.reduce((sum, size) => sum + size, 0);
}
