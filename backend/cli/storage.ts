import path from 'node:path';
import { listPulledModels, type PulledModel } from '../lm/hub/pulled-models.ts';
import { conductorHome } from '../protocol/client/conductor-home.ts';
import { prepareHome, UnsafeHomeError } from '../protocol/client/discovery.ts';
import type { CommandContext } from './command.ts';

type Places = Pick<CommandContext, 'currentFolder' | 'environment'>;

/** The folder of models and quantised weights: the named one, or else the folder of Conductor's files. */
export function storageFolder(named: string | undefined, { currentFolder, environment }: Places): string {
  return named === undefined ? conductorHome(environment) : path.resolve(currentFolder, named);
}

/** The same folder, for a command that writes to it. @throws UnsafeHomeError, or an error that says what to do */
export async function writableStorage(named: string | undefined, places: Places): Promise<string> {
  const folder = storageFolder(named, places);
  if (named !== undefined) return folder;
  try {
    // The backend requires this folder to be inaccessible to other users.
    await prepareHome(folder);
  } catch (error) {
    if (error instanceof UnsafeHomeError) throw error;
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new Error(`${folder} cannot be used (${code}): name another folder with --storage.`, { cause: error });
  }
  return folder;
}

/** The pulled models of a storage folder. @throws an error that says what to do */
export async function pulledModels(storage: string): Promise<PulledModel[]> {
  try {
    return await listPulledModels(storage);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new Error(`The models in ${storage} cannot be listed (${code}): see that the folder is yours to read.`, { cause: error });
  }
}
