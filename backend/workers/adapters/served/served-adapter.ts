import { cp, stat } from 'node:fs/promises';
import path from 'node:path';
import { writeFolder } from '../../../common/write-folder.ts';
import { NO_USAGE } from '../../../protocol/token-counts.ts';
import { servedName } from '../../../protocol/served.ts';
import type { WorkerConfig } from '../../../protocol/worker-config.ts';
import { WorkerError } from '../../errors.ts';
import type { ServedModels } from './served-model.ts';

/** An adapter of this machine as a server knows it. */
export interface ServedAdapter {
  /** `servedName`. */
  readonly name: string;
  /** The folder as the server names it. */
  readonly serverPath: string;
  /** The folder (absolute) here. */
  readonly folder: string;
}

/** The adapter with which a served Conductor plans; undefined without one. @throws WorkerError `invalid-request` where it cannot be read here */
export async function servedAdapterOf(worker: Pick<WorkerConfig, 'id' | 'served' | 'adapter'>, models: ServedModels): Promise<ServedAdapter | undefined> {
  const { id, served, adapter } = worker;
  if (!served || adapter === undefined) return undefined;
  try {
    const name = servedName(adapter, await models.versionOf(served.model, adapter));
    const shared = served.serverFolder ?? served.folder;
    return { name, folder: adapter, serverPath: shared === undefined ? adapter : inFolder(shared, name) };
  } catch (error) {
    throw new WorkerError({ kind: 'invalid-request', message: `Worker "${id}": its adapter cannot be used: ${error instanceof Error ? error.message : String(error)}`, usage: NO_USAGE, cause: error });
  }
}

/** Copies an adapter to where the server reads it. Each version has a folder of its own, which appears complete or not at all. @throws WorkerError */
export async function copyForServer({ id, served }: Pick<WorkerConfig, 'id' | 'served'>, { folder, name }: ServedAdapter): Promise<void> {
  if (served?.folder === undefined) return;
  const target = path.join(served.folder, name);
  const isThere = (): Promise<boolean> => stat(target).then(() => true, () => false);
  if (await isThere()) return;
  try {
    await writeFolder(target, (staging) => cp(folder, staging, { recursive: true }));
  } catch (error) {
    // Another process may have been quicker.
    if (await isThere()) return;
    const said = error instanceof Error ? error.message : String(error);
    throw new WorkerError({ kind: 'invalid-request', message: `Worker "${id}": its adapter could not be copied to ${served.folder} (${said}): make that folder writable, or name another one as "served.folder".`, usage: NO_USAGE, cause: error });
  }
}

/** The server may run on another system. */
const inFolder = (folder: string, name: string): string => (/^[A-Za-z]:|^\\\\/.test(folder) ? path.win32 : path.posix).join(folder, name);
