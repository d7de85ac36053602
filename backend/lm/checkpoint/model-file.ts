import { constants } from 'node:fs';
import { open, realpath, stat, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { CheckpointError, explainSystemError, quoted, systemErrorCode } from './errors.ts';

/**
 * The real path of a file of a model's folder.
 *
 * Models are untrusted, and an index can name any file, so only plain names are allowed. A link must stay inside the folder, or be a
 * link of the Hugging Face cache, where `models--owner--name/snapshots/<commit>/config.json` links to
 * `models--owner--name/blobs/<hash>` (https://huggingface.co/docs/huggingface_hub/guides/manage-cache).
 *
 * @returns `undefined` if there is no such file
 * @throws CheckpointError
 */
export async function locateModelFile(folder: string, name: string): Promise<string | undefined> {
  const path = join(folder, name);
  if (!isPlainName(name)) {
    const message =
      `${folder}: ${quoted(name)} is no plain file name, and files outside the model's folder are not read: ` +
      'choose a model from a source you trust.';
    throw new CheckpointError({ kind: 'unsafe-path', file: folder, message });
  }
  try {
    const [realFolder, realFile] = await Promise.all([realpath(folder), realpath(path)]);
    if (![realFolder, ...blobsOf(realFolder)].some((allowed) => realFile.startsWith(allowed + sep))) {
      const message = `${path} is a link that leaves the model's folder: replace it by the file itself.`;
      throw new CheckpointError({ kind: 'unsafe-path', file: path, message });
    }
    // Checked before opening, because opening a pipe waits for its other end.
    if (!(await stat(realFile)).isFile()) {
      const message = `${path} is no regular file: download the model again.`;
      throw new CheckpointError({ kind: 'malformed', file: path, message });
    }
    return realFile;
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined;
    throw explainSystemError(path, error);
  }
}

/** Letters, digits, dot, dash and underscore: excludes separators, drives, streams and parent folders of all platforms. */
function isPlainName(name: string): boolean {
  return name.length <= 255 && /^[A-Za-z0-9][\w.-]*$/.test(name);
}

function blobsOf(realFolder: string): string[] {
  const snapshots = dirname(realFolder);
  const model = dirname(snapshots);
  return basename(snapshots) === 'snapshots' && basename(model).startsWith('models--') ? [join(model, 'blobs')] : [];
}

/** @throws CheckpointError if the operating system cannot open the file */
export async function openFile(file: string): Promise<FileHandle> {
  try {
    return await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    throw explainSystemError(file, error);
  }
}

/** Opens a file for `read` and closes it afterwards. */
export async function withFile<T>(file: string, read: (handle: FileHandle) => Promise<T>): Promise<T> {
  const handle = await openFile(file);
  try {
    return await read(handle);
  } finally {
    await handle.close();
  }
}

/** Node reads at most 2 GiB per call. */
const LARGEST_READ = 1 << 30;

/**
 * Fills `bytes` from a position of a file.
 * @throws CheckpointError if the file cannot be read or is too short
 */
export async function readExactly(handle: FileHandle, file: string, bytes: Uint8Array, position: number): Promise<void> {
  let filled = 0;
  while (filled < bytes.byteLength) {
    const length = Math.min(bytes.byteLength - filled, LARGEST_READ);
    const { bytesRead } = await handle.read(bytes, filled, length, position + filled).catch((error: unknown) => {
      throw explainSystemError(file, error);
    });
    if (bytesRead === 0) {
      const message =
        `${file} ends at byte ${position + filled}, and ${position + bytes.byteLength} were expected: download it again.`;
      throw new CheckpointError({ kind: 'truncated', file, message });
    }
    filled += bytesRead;
  }
}
