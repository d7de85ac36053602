import type { TrainingConfig } from '../../protocol/training.ts';
import type { EngineParts, EngineStart, OpenedEngine } from './engine-start.ts';
import { openLocalEngine } from './open-local-engine.ts';

/** To add an engine: its name in `TRAINING_ENGINES` (protocol), a file beside this one, and a row here. */
const ENGINES: Readonly<Record<TrainingConfig['engine'], (parts: EngineParts, start: EngineStart) => Promise<OpenedEngine>>> = {
  local: openLocalEngine,
};

/** The engine that the training's configuration names. */
export function openEngine(parts: EngineParts, start: EngineStart): Promise<OpenedEngine> {
  return ENGINES[start.config.engine](parts, start);
}
