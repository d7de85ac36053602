import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { workersFileSchema, type WorkersFile } from '../protocol/worker-config.ts';
import { ConfigFileError, describeIssue, readJsonFile } from './read-json-file.ts';
import { isDiskFull } from '../common/disk-full.ts';
import { replaceFile } from '../common/replace-file.ts';

/** Loads the pool, the Conductor and the budget. The pool is empty if there is no file. @throws ConfigFileError */
export async function loadWorkersFile(path: string): Promise<WorkersFile> {
  return (await readJsonFile(path, workersFileSchema)) ?? workersFileSchema.parse({ version: 1, workers: [] });
}

/**
 * Replaces the file atomically. Only its owner can read it.
 * @throws ConfigFileError if the content is not valid (nothing is written) or the file cannot be written.
 */
export async function saveWorkersFile(path: string, file: WorkersFile): Promise<void> {
  const parsed = workersFileSchema.safeParse(file);
  if (!parsed.success) throw new ConfigFileError(path, `Not saved: ${describeIssue(parsed.error)}.`, parsed.error);
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await replaceFile(path, `${JSON.stringify(parsed.data, null, 2)}\n`);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    const advice = isDiskFull(error) ? 'free some space' : 'check the folder and its permissions';
    throw new ConfigFileError(path, `${path} could not be written (${code}): ${advice}.`, error);
  }
}
