import { stat } from 'node:fs/promises';
import path from 'node:path';
import { listPulledModels, recordFile } from '../hub/pulled-models.ts';
import { ModelMissingError } from './model-missing-error.ts';

export interface WhereToLook {
  /** The product's storage folder with the downloaded models. */
  readonly storage: string;
  /** The folder to which a relative path refers. Absent if the name cannot be a relative path, such as one from settings. */
  readonly currentFolder?: string | undefined;
}

/**
 * The folder of a model. `name` is the path of a folder, which may be relative if there is a current folder, or the `owner/name` of a
 * download. If several commits are downloaded, the latest download is used.
 * @throws ModelMissingError
 */
export async function findModelFolder(name: string, { storage, currentFolder }: WhereToLook): Promise<string> {
  const named = currentFolder === undefined ? name : await absoluteModelName(name, currentFolder);
  if (path.isAbsolute(named)) return named;
  const pulled = (await listPulledModels(storage)).filter(({ repo }) => repo === named);
  const dated = await Promise.all(pulled.map(async ({ folder }) => ({ folder, at: (await stat(recordFile(folder))).mtimeMs })));
  const [newest] = dated.sort((one, other) => other.at - one.at);
  if (!newest) throw new ModelMissingError(name, currentFolder === undefined ? undefined : path.resolve(currentFolder, name));
  return newest.folder;
}

/** The name of a model without the current folder: the absolute path of an existing folder; other names unchanged. */
export async function absoluteModelName(name: string, currentFolder: string): Promise<string> {
  const folder = path.resolve(currentFolder, name);
  return (await stat(folder).then(() => true, () => false)) ? folder : name;
}
