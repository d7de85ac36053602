import { mkdir, open, realpath, rename, rm, statfs, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import type { Checkpoint } from '../checkpoint/open-checkpoint.ts';
import { notFiniteError, readTensorRows } from '../checkpoint/read-tensor.ts';
import {
  allocateQuantizedRows, blocksPerRow, codeBytesPerRow, NonFiniteWeightError, quantizeRows, type BlockFormat,
  zeroPointBytesPerRow,
} from './block-quantize.ts';
import { cacheName, partialName, removeAbandoned, removeStale, writeSource } from './cache-folders.ts';
import { QuantizedCacheError, storageError, unwritable } from './errors.ts';
import { planQuantizedFile, type ByteRange, type PlannedTensor, type QuantizedFilePlan } from './quantized-file.ts';
import type { QuantizedTensor, StoredRange } from './quantized-tensor.ts';

/*
 * Weights are quantised once and cached in the user's storage. A folder gets its final name only after all its data is on disk, so an
 * existing folder is complete.
 */

export interface OpenQuantizedOptions extends BlockFormat {
  /** The user's storage folder, which is created if needed. */
  readonly storage: string;
  /**
   * Returns, for each weight, how much the squared error of each of its columns counts. In a weight that it leaves out, all columns count the
   * same. Called once, only if the weights are not cached yet, with weights that are quantised without it; these are removed afterwards.
   */
  readonly importance?: ((plain: ReadonlyMap<string, QuantizedTensor>) => Promise<ReadonlyMap<string, Float32Array>>) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called every few million weights during quantisation; never if the weights are cached. */
  readonly onProgress?: ((doneWeights: number, totalWeights: number) => void) | undefined;
  /** Returns the free bytes in a folder; by default from the file system. */
  readonly freeBytes?: ((folder: string) => Promise<number>) | undefined;
}

export interface QuantizedWeights {
  /** By the names of the checkpoint's weights. Includes a tied embedding table, as the output layer. */
  readonly tensors: ReadonlyMap<string, QuantizedTensor>;
  readonly folder: string;
  readonly byteLength: number;
}

const WEIGHTS_FILE = 'model.safetensors';
const PLAIN_FILE = 'plain.safetensors';

/** The number of weights in memory: 16 MiB in float32, plus their codes. */
const WEIGHTS_PER_CHUNK = 4 * 1024 * 1024;

/** Disk space to leave free for other programs. */
const SPARE_BYTES = 256 * 1024 * 1024;

/**
 * The quantised weights of a checkpoint, from the cache or computed now in bounded memory. Their size is
 * `planQuantizedFile(…).byteLength`. The computation blocks the thread for some tens of milliseconds at a time, so it runs in
 * the model's process.
 * @throws QuantizedCacheError if they cannot be stored, CheckpointError if a weight cannot be read or is not finite, and the
 * signal's reason when it aborts. On errors, partial files are removed.
 */
export async function openQuantized(checkpoint: Checkpoint, options: OpenQuantizedOptions): Promise<QuantizedWeights> {
  const { bits, blockSize, signal } = options;
  signal?.throwIfAborted();
  const plan = planQuantizedFile(checkpoint, { bits, blockSize });
  const caches = await makeFolder(path.join(options.storage, 'quantized'));
  const folder = path.join(caches, cacheName(checkpoint, { bits, blockSize }));
  if (!(await isWhole(folder, plan))) await build(checkpoint, plan, folder, options);
  return {
    tensors: locate(plan, path.join(folder, WEIGHTS_FILE)),
    folder,
    byteLength: plan.byteLength,
  };
}

async function makeFolder(folder: string): Promise<string> {
  try {
    await mkdir(folder, { recursive: true });
    return await realpath(folder);
  } catch (cause) {
    throw unwritable(folder, cause);
  }
}

function locate({ tensors }: QuantizedFilePlan, file: string): ReadonlyMap<string, QuantizedTensor> {
  const inFile = (range: ByteRange): StoredRange => ({ file, ...range });
  return new Map(tensors.map(({ name, format, rows, columns, blocks, scales, zeroPoints }) =>
    [name, { ...format, rows, columns, blocks: inFile(blocks), scales: inFile(scales), zeroPoints: zeroPoints && inFile(zeroPoints) }]));
}

/** Whether the folder's file has the planned length and header. Its data is trusted, because it was synced before the rename. */
async function isWhole(folder: string, { head, byteLength }: QuantizedFilePlan): Promise<boolean> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(path.join(folder, WEIGHTS_FILE), 'r');
    if ((await handle.stat()).size !== byteLength) return false;
    const found = Buffer.alloc(head.length);
    const { bytesRead } = await handle.read(found, 0, found.length, 0);
    return bytesRead === head.length && found.equals(head);
  } catch {
    // Missing or unreadable. The caller writes a new file, which fails with an error if the folder is unusable.
    return false;
  } finally {
    await handle?.close();
  }
}

async function build(
  checkpoint: Checkpoint, plan: QuantizedFilePlan, folder: string, options: OpenQuantizedOptions,
): Promise<void> {
  const caches = path.dirname(folder);
  const partial = path.join(caches, partialName());
  try {
    await removeAbandoned(caches);
    await checkSpace(caches, plan.byteLength * (options.importance ? 2 : 1), options.freeBytes ?? freeBytesOf);
    await mkdir(partial);
    const importance = options.importance && (await measured(plan, path.join(partial, PLAIN_FILE), options));
    await writeWeights(path.join(partial, WEIGHTS_FILE), plan, options, importance);
    await writeSource(partial, checkpoint);
    await putInPlace(partial, folder, plan);
    await removeStale(caches, checkpoint);
  } catch (error) {
    throw storageError(caches, error);
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

type Importance = ReadonlyMap<string, Float32Array>;

/** @param file a temporary file, for weights that are quantised without importance */
async function measured(plan: QuantizedFilePlan, file: string, options: OpenQuantizedOptions): Promise<Importance | undefined> {
  await writeWeights(file, plan, options);
  const importance = await options.importance?.(locate(plan, file));
  await rm(file);
  return importance;
}

/** If another process has written the same folder in the meantime, keeps that one. */
async function putInPlace(partial: string, folder: string, plan: QuantizedFilePlan): Promise<void> {
  if (await isWhole(folder, plan)) return;
  try {
    // Removes a damaged folder, which would block the rename.
    await rm(folder, { recursive: true, force: true });
    await rename(partial, folder);
  } catch (error) {
    if (!(await isWhole(folder, plan))) throw error;
  }
}

async function writeWeights(file: string, plan: QuantizedFilePlan, options: OpenQuantizedOptions, importance?: Importance): Promise<void> {
  const { signal, onProgress } = options;
  const allWeights = plan.tensors.reduce((sum, { rows, columns }) => sum + rows * columns, 0);
  const totalWeights = allWeights * (options.importance ? 2 : 1);
  let doneWeights = importance ? allWeights : 0;
  const handle = await open(file, 'wx');
  try {
    await handle.truncate(plan.byteLength);
    await writeFully(handle, plan.head, 0);
    for (const tensor of plan.tensors) {
      for await (const weights of writeTensor(handle, tensor, importance?.get(tensor.name))) {
        doneWeights += weights;
        onProgress?.(doneWeights, totalWeights);
        signal?.throwIfAborted();
      }
    }
    // Otherwise a power cut could leave a file of the right length filled with zeros.
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Yields the number of weights that each step has written. */
async function* writeTensor(handle: FileHandle, tensor: PlannedTensor, importance: Float32Array | undefined): AsyncGenerator<number> {
  const { source, rows, columns, format, blocks, scales, zeroPoints } = tensor;
  const codeBytes = codeBytesPerRow(columns, format);
  const scaleBytes = blocksPerRow(columns, format) * 4;
  const zeroPointBytes = zeroPointBytesPerRow(columns, format);
  const rowsPerChunk = Math.min(rows, Math.max(1, Math.floor(WEIGHTS_PER_CHUNK / columns)));
  const chunk = allocateQuantizedRows(rowsPerChunk, columns, format);
  for (let row = 0; row < rows; row += rowsPerChunk) {
    const count = Math.min(rowsPerChunk, rows - row);
    const weights = await readTensorRows(source, row, count);
    try {
      quantizeRows(weights, columns, format, chunk, importance);
    } catch (error) {
      throw error instanceof NonFiniteWeightError ? notFiniteError(source, row * columns + error.index) : error;
    }
    await writeFully(handle, chunk.blocks.subarray(0, count * codeBytes), blocks.offset + row * codeBytes);
    await writeFully(handle, new Uint8Array(chunk.scales.buffer, 0, count * scaleBytes), scales.offset + row * scaleBytes);
    if (zeroPoints && chunk.zeroPoints) {
      await writeFully(handle, chunk.zeroPoints.subarray(0, count * zeroPointBytes), zeroPoints.offset + row * zeroPointBytes);
    }
    yield count * columns;
  }
}

async function writeFully(handle: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    written += (await handle.write(bytes, written, bytes.length - written, position + written)).bytesWritten;
  }
}

async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

async function checkSpace(folder: string, byteLength: number, freeBytesIn: (folder: string) => Promise<number>): Promise<void> {
  const neededBytes = byteLength + SPARE_BYTES;
  const freeBytes = await freeBytesIn(folder);
  if (freeBytes >= neededBytes) return;
  const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`;
  const message =
    `The quantised weights need ${gigabytes(neededBytes)} in ${folder}, and ${gigabytes(freeBytes)} are free: ` +
    'make room, or use the model as it is.';
  throw new QuantizedCacheError({ kind: 'no-space', folder, neededBytes, freeBytes, message });
}
