import { stat } from 'node:fs/promises';
import path from 'node:path';
import { recordFile } from '../lm/hub/pulled-models.ts';
import { pulledModels } from './storage.ts';

/**
 * The folder of a model that is named by its folder, or by OWNER/NAME if it was pulled; of several commits, the one pulled last.
 * @throws an error that says what to do
 */
export async function findModelFolder(
  name: string, { currentFolder, storage }: { readonly currentFolder: string; readonly storage: string },
): Promise<string> {
  const folder = path.resolve(currentFolder, name);
  if (await modifiedAtMs(folder) !== undefined) return folder;
  const commits = (await pulledModels(storage)).filter(({ repo }) => repo === name);
  const dated = await Promise.all(commits.map(async (model) => ({
    folder: model.folder, pulledAtMs: (await modifiedAtMs(recordFile(model.folder))) ?? 0,
  })));
  const [newest] = dated.sort((a, b) => b.pulledAtMs - a.pulledAtMs);
  if (newest) return newest.folder;
  const pull = /^[\w.-]+\/[\w.-]+$/.test(name) ? `"conductor model pull ${name}" fetches one` : '"conductor model pull" fetches one';
  throw new Error(`There is no folder ${folder}, and no model "${name}" was pulled: ${pull}, "conductor model list" shows what is here.`);
}

/** Undefined where there is nothing. */
async function modifiedAtMs(file: string): Promise<number | undefined> {
  return (await stat(file).catch(() => undefined))?.mtimeMs;
}
