import { realpath, stat } from 'node:fs/promises';
import { UsageError } from './usage-error.ts';

/** The real path of a folder (absolute). @throws UsageError if there is none */
export async function folderAt(folder: string): Promise<string> {
  const found = await stat(folder).catch(() => undefined);
  if (!found?.isDirectory()) throw new UsageError(`There is no folder ${folder}.`);
  return await realpath(folder);
}
