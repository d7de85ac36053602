import { randomBytes } from 'node:crypto';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { systemErrorCode } from '../checkpoint/errors.ts';
import type { Checkpoint } from '../checkpoint/open-checkpoint.ts';
import type { BlockFormat, QuantizedBits } from './block-quantize.ts';
import { QUANTIZED_FILE_VERSIONS } from './quantized-file.ts';

/*
 * The folders below <storage>/quantized:
 *
 *   <fingerprint>-<bits>-<block size>-v<version>/model.safetensors   the weights
 *                                               /source.json         which checkpoint they are of
 *   partial-<process id>-<random>/                                   the same, under construction
 */

/** The name of an incomplete cache contains its process's id, so that the cache of a dead process can be found and removed. */
const PARTIAL = 'partial-';
const SOURCE_FILE = 'source.json';

export function cacheName({ fingerprint }: Checkpoint, { bits, blockSize }: BlockFormat): string {
  return `${fingerprint}-${bits}-${blockSize}-v${QUANTIZED_FILE_VERSIONS[bits]}`;
}

export function partialName(): string {
  return `${PARTIAL}${process.pid}-${randomBytes(4).toString('hex')}`;
}

/** Records the checkpoint of a cache. */
export async function writeSource(folder: string, checkpoint: Checkpoint): Promise<void> {
  await writeFile(path.join(folder, SOURCE_FILE), JSON.stringify({ folder: checkpoint.folder }));
}

/** Removes incomplete caches of dead processes. */
export async function removeAbandoned(caches: string): Promise<void> {
  for (const name of await readdir(caches)) {
    const pid = name.startsWith(PARTIAL) ? Number.parseInt(name.slice(PARTIAL.length), 10) : Number.NaN;
    if (!Number.isNaN(pid) && !lives(pid)) await rm(path.join(caches, name), { recursive: true, force: true });
  }
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it is alive and belongs to another user.
    return systemErrorCode(error) === 'EPERM';
  }
}

/**
 * Removes caches of earlier versions, and of this checkpoint before its files changed: nothing reads them again. A process that still has one
 * open keeps it, or on Windows prevents its removal; then the next new cache removes it.
 */
export async function removeStale(caches: string, checkpoint: Checkpoint): Promise<void> {
  for (const name of await readdir(caches)) {
    const [, fingerprint, bits, version] = /^(.+)-(4|8)-\d+-v(\d+)$/.exec(name) ?? [];
    if (fingerprint === undefined) continue;
    const folder = path.join(caches, name);
    const isOutdated = Number(version) < QUANTIZED_FILE_VERSIONS[Number(bits) as QuantizedBits];
    const isChanged = fingerprint !== checkpoint.fingerprint && (await sourceOf(folder)) === checkpoint.folder;
    if (isOutdated || isChanged) await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}

async function sourceOf(folder: string): Promise<string | undefined> {
  try {
    const source = path.join(folder, SOURCE_FILE);
    if ((await stat(source)).size > 64 * 1024) return undefined;
    const { folder: checkpoint } = JSON.parse(await readFile(source, 'utf8')) as { folder?: unknown };
    return typeof checkpoint === 'string' ? checkpoint : undefined;
  } catch {
    return undefined;
  }
}
