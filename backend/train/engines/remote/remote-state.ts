import { readFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';

/** The file in an engine's state folder. */
export const STATE_FILE = 'remote.json';

const place = z.string().startsWith('tinker://').max(4_096);

const stateSchema = z.object({
  format: z.literal(1),
  /** Where the server keeps the weights and the optimizer's state; absent before another machine has trained them. */
  weights: place.optional(),
  /** Where it keeps the latest version to sample from. */
  sampler: place.optional(),
  /** The same of versions before that one, newest first, for machines that still sample from them: they are removed when they are too old. */
  samplersBefore: z.array(place).max(16).default([]),
  /** Of the states before this one, newest first: they are removed when they are no longer needed. */
  earlier: z.array(place).max(16).default([]),
  /** The model on the server, whose place a killed process leaves taken. */
  model: z.string().max(4_096).optional(),
});

/** What another process needs to go on. */
export type RemoteState = z.infer<typeof stateSchema>;

/** The state that `saveState` wrote into a folder. @throws Error where it is missing or damaged */
export async function readRemoteState(folder: string): Promise<RemoteState> {
  const file = path.join(folder, STATE_FILE);
  const text = await readFile(file, 'utf8').catch(() => '');
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  const found = stateSchema.safeParse(json).data;
  if (!found) throw new Error(`${file} cannot be read: a training goes on with the engine that it began with.`);
  return found;
}
