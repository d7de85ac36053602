import { randomBytes } from 'node:crypto';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { systemErrorCode } from '../checkpoint/errors.ts';
import type { Checkpoint } from '../checkpoint/open-checkpoint.ts';
import type { BlockFormat } from './block-quantize.ts';
import { QUANTIZED_FILE_VERSION } from './quantized-file.ts';

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
  return `${fingerprint}-${bits}-${blockSize}-v${QUANTIZED_FILE_VERSION}`;
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

/** Caches of earlier versions, and of this checkpoint before its files changed. */
export async function findStale(caches: string, checkpoint: Checkpoint): Promise<string[]> {
  const stale: string[] = [];
  for (const name of await readdir(caches)) {
    const [, fingerprint, version] = /^(.+)-\d+-\d+-v(\d+)$/.exec(name) ?? [];
    if (fingerprint === undefined) continue;
    const folder = path.join(caches, name);
    const outdated = Number(version) < QUANTIZED_FILE_VERSION;
    const changed = fingerprint !== checkpoint.fingerprint && (await sourceOf(folder)) === checkpoint.folder;
    if (outdated || changed) stale.push(folder);
  }
  return stale;
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
