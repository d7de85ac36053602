import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { workersFileSchema, type WorkersFile } from '../protocol/worker-config.ts';
import { ConfigFileError, describeIssue, parseConfig, readConfigText } from './read-json-file.ts';
import { isDiskFull } from '../common/disk-full.ts';
import { replaceFile } from '../common/replace-file.ts';

/** Loads the pool, the Conductor and the budget. The pool is empty if there is no file. @throws ConfigFileError */
export function loadWorkersFile(path: string): Promise<WorkersFile> {
  return workersFileLoader(path)();
}

/** As `loadWorkersFile`, for who reads it for each request: what is there already is validated again only where its text has changed. */
export function workersFileLoader(path: string): () => Promise<WorkersFile> {
  let last: { readonly text: string | undefined; readonly file: WorkersFile } | undefined;
  return async () => {
    const text = await readConfigText(path);
    if (last && last.text === text) return last.file;
    const file = text === undefined ? workersFileSchema.parse({ version: 1, workers: [] }) : parseConfig(path, text, workersFileSchema);
    last = { text, file };
    return file;
  };
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
