import { stat } from 'node:fs/promises';
import path from 'node:path';
import { listPulledModels, recordFile } from '../hub/pulled-models.ts';
import { ModelMissingError } from './model-missing-error.ts';

/**
 * The folder of a model: the name itself where it is an absolute path, otherwise of the download of `owner/name`, the last one
 * that was pulled if several commits are here.
 * @throws ModelMissingError
 */
export async function findModelFolder(name: string, storage: string): Promise<string> {
  if (path.isAbsolute(name)) return name;
  const pulled = (await listPulledModels(storage)).filter(({ repo }) => repo === name);
  const dated = await Promise.all(pulled.map(async ({ folder }) => ({ folder, at: (await stat(recordFile(folder))).mtimeMs })));
  const [newest] = dated.sort((one, other) => other.at - one.at);
  if (!newest) throw new ModelMissingError(name);
  return newest.folder;
}
