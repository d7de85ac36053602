import { stat } from 'node:fs/promises';
import path from 'node:path';
import { findModelFolder } from '../lm/process/find-model-folder.ts';
import { ModelMissingError } from '../lm/process/model-missing-error.ts';

/** A model as it is named everywhere else: a folder by its absolute path, any other name as it is. */
export async function absoluteModelName(name: string, currentFolder: string): Promise<string> {
  const folder = path.resolve(currentFolder, name);
  return (await stat(folder).then(() => true, () => false)) ? folder : name;
}

/** The folder of a model that is named by its folder, or by OWNER/NAME if it was pulled. @throws an error that says what to do */
export async function modelFolder(
  name: string, { currentFolder, storage }: { readonly currentFolder: string; readonly storage: string },
): Promise<string> {
  try {
    return await findModelFolder(await absoluteModelName(name, currentFolder), storage);
  } catch (error) {
    if (!(error instanceof ModelMissingError)) throw error;
    throw new Error(
      `There is no folder ${path.resolve(currentFolder, name)}, and no model ${name} was pulled: "conductor model list" shows those that ` +
        'were, "conductor model pull OWNER/NAME" fetches one.',
      { cause: error },
    );
  }
}
