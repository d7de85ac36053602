import { readdir } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import type { DecoderConfig } from '../checkpoint/decoder-config.ts';
import { CheckpointError, explainSystemError } from '../checkpoint/errors.ts';
import { AdapterError } from './errors.ts';
import type { Projection } from './projections.ts';
import { outlineAdapter } from './read-adapter.ts';

/** The output of `conductor model inspect` for an adapter: its properties, or why it cannot be used with the model. */
export type AdapterSummary =
  | {
    readonly name: string;
    readonly folder: string;
    readonly compatible: true;
    readonly rank: number;
    readonly scaling: number;
    readonly targets: readonly Projection[];
    readonly parameters: number;
    readonly version: string;
  }
  | { readonly name: string; readonly folder: string; readonly compatible: false; readonly problem: string };

/**
 * The adapters in the folders of `parent`, sorted by name.
 * @throws CheckpointError if `parent` cannot be listed
 */
export async function inspectAdapters(parent: string, config: DecoderConfig): Promise<AdapterSummary[]> {
  const entries = await readdir(parent, { withFileTypes: true }).catch((error: unknown) => {
    throw explainSystemError(parent, error);
  });
  const summaries: AdapterSummary[] = [];
  for (const name of entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name).sort()) {
    const folder = join(parent, name);
    const inside = await readdir(folder).catch((): string[] => []);
    if (inside.includes('adapter_config.json')) summaries.push(await inspectAdapter(folder, config));
  }
  return summaries;
}

/** Reads a whole adapter, including its weights, and checks whether a model of this geometry can use it. */
export async function inspectAdapter(folder: string, config: DecoderConfig): Promise<AdapterSummary> {
  const place = { name: basename(resolve(folder)), folder: resolve(folder) };
  try {
    const { rank, scaling, targets, parameters, version } = await outlineAdapter(folder, config);
    return { ...place, compatible: true, rank, scaling, targets, parameters, version };
  } catch (error) {
    if (!(error instanceof AdapterError || error instanceof CheckpointError)) throw error;
    return { ...place, compatible: false, problem: error.message };
  }
}
