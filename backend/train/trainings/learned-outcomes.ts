import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import type { Training } from '../../protocol/training.ts';

/*
 * What an adapter has learned from the journal, so that nothing is learned twice. It stands in the adapter's folder: trainings may be removed while
 * their adapter is still in use. It holds names of runs and none of their texts.
 */

const FILE = 'conductor-outcomes.json';
const schema = z.object({ outcomes: z.array(z.string()) });

export interface Known {
  readonly outcomes: ReadonlySet<string>;
  /** The trainings of which the adapter has learned, one from the other. */
  readonly trainings: ReadonlySet<string>;
}

/** @param adapter folder (absolute) */
export function writeLearnedOutcomes(adapter: string, outcomes: readonly string[]): Promise<void> {
  return writeFile(path.join(adapter, FILE), JSON.stringify({ outcomes }));
}

/**
 * What the Conductor has learned with this adapter, and with those that it was trained on from the first.
 * @param adapters the folder (absolute) that holds adopted adapters, each named like its training
 */
export async function knownWith(adapter: string | undefined, { adapters, trainings }: { readonly adapters: string; readonly trainings: readonly Training[] }): Promise<Known> {
  const [outcomes, names] = [new Set<string>(), new Set<string>()];
  for (let at = adapter; at !== undefined && !names.has(path.basename(at));) {
    for (const key of await outcomesIn(at)) outcomes.add(key);
    if (path.dirname(at) !== adapters) break;
    const name = path.basename(at);
    names.add(name);
    at = trainings.find(({ trainingId }) => trainingId === name)?.adapterBefore;
  }
  return { outcomes, trainings: names };
}

async function outcomesIn(adapter: string): Promise<readonly string[]> {
  const text = await readFile(path.join(adapter, FILE), 'utf8').catch(() => undefined);
  if (text === undefined) return [];
  return schema.parse(JSON.parse(text)).outcomes;
}
