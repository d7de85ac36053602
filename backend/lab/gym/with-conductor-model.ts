import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { MINI_PLANNER } from '../../conductor/mini-planner.ts';
import { LocalModel } from '../../lm/local-model.ts';
import type { WorkerConfig } from '../../protocol/worker-config.ts';

/** The folder of conductor-mini. */
export const BUNDLED_FOLDER = fileURLToPath(new URL('../../../media/conductor-mini', import.meta.url));

/** The worker entry of a Conductor of the gym. `told`: it is told who has hands, as models that were trained so need it. */
export function conductorPlanner({ told }: { readonly told: boolean }): WorkerConfig & { readonly promptProfile: 'mini' | 'mini-hands' } {
  return { ...MINI_PLANNER, promptProfile: told ? 'mini-hands' : 'mini' };
}

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
