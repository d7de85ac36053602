import { PROJECTIONS } from '../../lm/adapter/projections.ts';
import { ADAMW_DEFAULTS } from '../../lm/trainer/adamw.ts';
import type { EngineParts, EngineStart, OpenedEngine } from './engine-start.ts';
import { LocalEngine } from './local-engine.ts';

/** Trains an adapter of the Conductor's model on this machine. */
export async function openLocalEngine({ openModel }: EngineParts, { config, conductor, versions, from }: EngineStart): Promise<OpenedEngine> {
  const { adapter } = conductor;
  const { model, close } = await openModel(conductor);
  try {
    await model.startTraining({
      adapter: adapter ?? { ...config.adapter, projections: PROJECTIONS, seed: config.seed },
      optimizer: ADAMW_DEFAULTS,
      ...(from && { resume: from.engineState }),
    });
  } catch (error) {
    await close();
    throw error;
  }
  return { engine: new LocalEngine(model, { versions, initial: adapter, latest: from?.version ?? adapter }), close };
}
