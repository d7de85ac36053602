import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';

/*
 * The folders of downloaded models:
 *   <storage>/models/<owner>--<name>/<commit>/    a complete model: the downloaded files and the record
 *   <storage>/models/<owner>--<name>/.part/       an incomplete download, of any commit
 *   <storage>/models/<owner>--<name>/.lock        held during a download
 */

const RECORD = '.pulled.json';

const recordSchema = z.object({
  version: z.literal(1),
  repo: z.string(),
  commit: z.string().regex(/^[0-9a-f]{40}$/),
  files: z.array(z.object({ name: z.string().regex(/^[^\\/]+$/), sizeBytes: z.number().int().min(0) })).min(1).max(5_000),
});

export type PullRecord = z.infer<typeof recordSchema>;

/** A completely downloaded model. */
export interface PulledModel {
  /** Such as "Qwen/Qwen3-0.6B". */
  readonly repo: string;
  /** The full hash of the commit. */
  readonly commit: string;
  /** The folder from which the model is loaded. */
  readonly folder: string;
  /** The total size of all files. */
  readonly sizeBytes: number;
}

export interface ModelPlaces {
  readonly staging: string;
  readonly lock: string;
  folder(commit: string): string;
}

/** `repo` must be a valid name: with "--", two names could have the same folder. */
export function modelPlaces(storage: string, repo: string): ModelPlaces {
  const base = path.join(storage, 'models', repo.replace('/', '--'));
  return { staging: path.join(base, '.part'), lock: path.join(base, '.lock'), folder: (commit) => path.join(base, commit) };
}

export function recordFile(folder: string): string {
  return path.join(folder, RECORD);
}

/** The model in a folder, if it has the record and all files with the right sizes. */
export async function readPulledModel(folder: string): Promise<PulledModel | undefined> {
  const record = await readRecord(folder);
  if (!record) return undefined;
  for (const { name, sizeBytes } of record.files) {
    const found = await stat(path.join(folder, name)).catch(() => undefined);
    if (!found?.isFile() || found.size !== sizeBytes) return undefined;
  }
  const sizeBytes = record.files.reduce((sum, file) => sum + file.sizeBytes, 0);
  return { repo: record.repo, commit: record.commit, folder, sizeBytes };
}

/** All complete models, sorted by name. Each commit of a model is an entry. */
export async function listPulledModels(storage: string): Promise<PulledModel[]> {
  const root = path.join(storage, 'models');
  const models: PulledModel[] = [];
  for (const name of await namesIn(root)) {
    for (const commit of (await namesIn(path.join(root, name))).filter((entry) => /^[0-9a-f]{40}$/.test(entry))) {
      const model = await readPulledModel(path.join(root, name, commit));
      if (model) models.push(model);
    }
  }
  return models.sort((a, b) => (a.repo < b.repo ? -1 : a.repo > b.repo ? 1 : a.commit < b.commit ? -1 : 1));
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw error;
  }
}

async function readRecord(folder: string): Promise<PullRecord | undefined> {
  try {
    return recordSchema.parse(JSON.parse(await readFile(recordFile(folder), 'utf8')));
  } catch {
    return undefined;
  }
}
