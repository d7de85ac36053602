import type { TrainingConfig, TrainingEngineKind } from '../../protocol/training.ts';
import type { WorkerConfig } from '../../protocol/worker-config.ts';
import type { EngineParts, EngineStart, OpenedEngine } from './engine-start.ts';
import { remoteProblem, remoteTerms } from './remote/remote-terms.ts';

interface Engine {
  readonly open: (parts: EngineParts, start: EngineStart) => Promise<OpenedEngine>;
  /** Why it cannot do what the configuration asks for; one sentence. */
  readonly problem: (config: TrainingConfig, conductor: WorkerConfig) => string | undefined;
  /** What a person is told before it starts; one sentence each. */
  readonly terms: (config: TrainingConfig) => readonly string[];
}

/** To add an engine: its name in `TRAINING_ENGINES` (protocol), a file beside this one, and a row here. */
const ENGINES: Readonly<Record<TrainingEngineKind, Engine>> = {
  local: { open: async (parts, start) => (await import('./open-local-engine.ts')).openLocalEngine(parts, start), problem: () => undefined, terms: () => [] },
  remote: { open: async (parts, start) => (await import('./open-remote-engine.ts')).openRemoteEngine(parts, start), problem: remoteProblem, terms: remoteTerms },
};

const engineOf = ({ engine }: Pick<TrainingConfig, 'engine'>): Engine => ENGINES[typeof engine === 'string' ? engine : engine.kind];

/** The engine that the training's configuration names. */
export function openEngine(parts: EngineParts, start: EngineStart): Promise<OpenedEngine> {
  return engineOf(start.config).open(parts, start);
}

export const engineProblem: Engine['problem'] = (config, conductor) => engineOf(config).problem(config, conductor);
export const engineTerms: Engine['terms'] = (config) => engineOf(config).terms(config);
