import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import type { Training } from '../../protocol/training.ts';

/* An adapter fits only the weights that it was trained on. The weights of the bundled model change between versions of Conductor. */

/** A file in the adapter's folder. */
const FILE = 'conductor-base.json';
const schema = z.object({ sha256: z.string() });

/** The files that identify a model. */
const WEIGHTS = ['config.json', 'tokenizer.json', 'model.safetensors'] as const;

/** The adapter was trained on other weights than the model has now. The message says what to do. */
export class OtherBaseError extends Error {
  override readonly name = 'OtherBaseError';
}

/** SHA-256 of a model's weights. Reads all of them, so it is for small models only. @param folder absolute */
export async function baseOf(folder: string): Promise<string> {
  const hash = createHash('sha256');
  for (const name of WEIGHTS) hash.update(await readFile(path.join(folder, name)));
  return hash.digest('hex');
}

/** Writes into an adapter's folder (absolute) which weights it was trained on. */
export function writeAdapterBase(adapter: string, sha256: string): Promise<void> {
  return writeFile(path.join(adapter, FILE), JSON.stringify({ sha256 }));
}

/** Accepts an adapter that does not say which weights it was trained on. @throws OtherBaseError */
export async function checkAdapterBase(adapter: string, sha256: string): Promise<void> {
  const text = await readFile(path.join(adapter, FILE), 'utf8').catch(() => undefined);
  if (text === undefined || baseIn(text) === sha256) return;
  throw new OtherBaseError(
    `the adapter ${adapter} was trained on an earlier version of the model that is part of Conductor: go back to the model without it ` +
      '("Go back" in the training, or "conductor train back"), and train again.',
  );
}

export const OUTDATED = 'it was started with an earlier version of the model that is part of Conductor. Start another training.';

/** Whether the model has other weights now than when the training started. */
export async function isOutdated(
  { base, model }: Pick<Training, 'base' | 'model'>, currentBase: ((conductor: Pick<Training, 'model'>) => Promise<string | undefined>) | undefined,
): Promise<boolean> {
  return base !== undefined && base !== (await currentBase?.({ model }));
}

function baseIn(text: string): string | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data?.sha256;
  } catch {
    return undefined;
  }
}
