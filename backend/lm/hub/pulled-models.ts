import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';

/*
 * Where models lie and what is known of them:
 *   <storage>/models/<owner>--<name>/<commit>/    a whole model: the files as downloaded, and the record
 *   <storage>/models/<owner>--<name>/.part/       one that is being fetched, of whichever commit
 *   <storage>/models/<owner>--<name>/.lock        held while it is
 */

const RECORD = '.pulled.json';

const recordSchema = z.object({
  version: z.literal(1),
  repo: z.string(),
  commit: z.string().regex(/^[0-9a-f]{40}$/),
  files: z.array(z.object({ name: z.string().regex(/^[^\\/]+$/), sizeBytes: z.number().int().min(0) })).min(1).max(5_000),
});

export type PullRecord = z.infer<typeof recordSchema>;

/** A model that is here, whole. */
export interface PulledModel {
  /** "Qwen/Qwen3-0.6B". */
  readonly repo: string;
  /** The commit of its repository, in full. */
  readonly commit: string;
  /** Its folder: what a model is loaded from. */
  readonly folder: string;
  /** All files together. */
  readonly sizeBytes: number;
}

export interface ModelPlaces {
  readonly staging: string;
  readonly lock: string;
  folder(commit: string): string;
}

/** `repo` must have been checked: "--" in it would make two names one. */
export function modelPlaces(storage: string, repo: string): ModelPlaces {
  const base = path.join(storage, 'models', repo.replace('/', '--'));
  return { staging: path.join(base, '.part'), lock: path.join(base, '.lock'), folder: (commit) => path.join(base, commit) };
}

export function recordFile(folder: string): string {
  return path.join(folder, RECORD);
}

/** The model in a folder of ours, if its record and all files in their sizes are there. */
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

/** All whole models, by name; several commits of one model are several entries. */
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
