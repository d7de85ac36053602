import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import path from 'node:path';

/** The absolute path of a program, by its name or its path; undefined if there is none. @param searchPath as in PATH */
export async function programIn(name: string, searchPath: string): Promise<string | undefined> {
  const isHere = (file: string): Promise<boolean> => access(file, constants.X_OK).then(async () => (await stat(file)).isFile()).catch(() => false);
  if (path.isAbsolute(name)) return (await isHere(name)) ? name : undefined;
  if (name.includes('/')) return undefined;
  for (const folder of searchPath.split(path.delimiter)) {
    const file = path.join(folder, name);
    if (path.isAbsolute(folder) && (await isHere(file))) return file;
  }
  return undefined;
}
