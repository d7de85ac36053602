import { PROJECTIONS } from '../../lm/adapter/projections.ts';
import { ADAMW_DEFAULTS } from '../../lm/trainer/adamw.ts';
import type { EngineParts, EngineStart, OpenedEngine } from './engine-start.ts';
import { LocalEngine } from './local-engine.ts';

/** Trains an adapter of the Conductor's model on this machine, or all of its weights. */
export async function openLocalEngine({ openModel }: EngineParts, { config, conductor, versions, from }: EngineStart): Promise<OpenedEngine> {
  const { adapter } = conductor;
  const trains = config.train === 'weights' ? 'weights' : 'adapter';
  const { model, before, close } = await openModel(conductor, trains);
  try {
    await model.startTraining({
      ...(trains === 'adapter' && { adapter: adapter ?? { ...config.adapter, projections: PROJECTIONS, seed: config.seed } }),
      optimizer: ADAMW_DEFAULTS,
      ...(from && { resume: from.engineState }),
    });
  } catch (error) {
    await close();
    throw error;
  }
  const engine = trains === 'weights'
    ? new LocalEngine(model, { versions, trains, reference: before })
    : new LocalEngine(model, { versions, initial: adapter, latest: from?.version ?? adapter });
  return { engine, close };
}
