import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { LocalModel } from '../../lm/local-model.ts';

/** The folder of conductor-mini. */
export const BUNDLED_FOLDER = fileURLToPath(new URL('../../../media/conductor-mini', import.meta.url));

/** Opens the model of a folder on one thread of the processor, and closes it after use. */
export async function withConductorModel(folder: string, use: (model: LocalModel) => Promise<void>): Promise<void> {
  const storage = await mkdtemp(path.join(tmpdir(), 'gym-conductor-'));
  const settings = { folder: path.resolve(folder), device: 'cpu', precision: 'full', adapters: false, storage } as const;
  const model = await LocalModel.open({ settings, device: 'cpu', deviceReasons: [], threads: 1 });
  try {
    await use(model);
  } finally {
    await model.close();
    await rm(storage, { recursive: true, force: true });
  }
}
