import { readdir, rm, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { evaluationsFolder, isOfEvaluation } from './evaluation-folder.ts';
import { FILES } from './files.ts';

/**
 * Removes an evaluation with the answers that it paid for. A folder (absolute) among Conductor's own goes as a whole. In one that a person named
 * may be other files: these stay.
 */
export async function removeEvaluation(folder: string, home: string): Promise<void> {
  const isOwn = path.dirname(path.resolve(folder)) === evaluationsFolder(home);
  const names = (await readdir(folder)).filter((name) => isOwn || isOfEvaluation(name));
  // What lists it goes last, so that a removal that was cut off can be done again.
  for (const name of names.toSorted((a, b) => Number(a === FILES.kept) - Number(b === FILES.kept))) await rm(path.join(folder, name), { recursive: true, force: true });
  await rmdir(folder).catch(() => undefined);
}
