import { join } from 'node:path';
import { CheckpointError } from './errors.ts';
import { locateModelFile, readExactly, withFile } from './model-file.ts';

/** A hundred times the size of a large model's index. */
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Parses a JSON file of a model's folder, without validating its content.
 * @returns `undefined` if there is no such file
 * @throws CheckpointError
 */
export async function readModelJson(folder: string, name: string): Promise<unknown> {
  const file = await locateModelFile(folder, name);
  if (file === undefined) return undefined;
  const path = join(folder, name);
  const bytes = await withFile(file, async (handle) => {
    const { size } = await handle.stat();
    if (size > MAX_BYTES) throw malformed(path, 'is larger than 16 MiB');
    const content = new Uint8Array(size);
    await readExactly(handle, file, content, 0);
    return content;
  });
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as unknown;
  } catch (error) {
    throw malformed(path, 'is not valid JSON', error);
  }
}

function malformed(file: string, problem: string, cause?: unknown): CheckpointError {
  return new CheckpointError({ kind: 'malformed', file, message: `${file} ${problem}: download the model again.`, cause });
}
