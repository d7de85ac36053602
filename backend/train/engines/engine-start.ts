import type { LanguageModel, TrainableModel } from '../../lm/language-model.ts';
import type { TrainingConfig } from '../../protocol/training.ts';
import type { WorkerConfig } from '../../protocol/worker-config.ts';
import type { KeySource } from '../../workers/key-source.ts';
import type { TrainEngine } from './engine.ts';

/** What this process offers to engines. */
export interface EngineParts {
  /** Loads the Conductor's model with room to train an adapter, or all of its weights: then `before` is the model as it was. `close` frees both. */
  readonly openModel: (conductor: WorkerConfig, trains: 'adapter' | 'weights') =>
    Promise<{ readonly model: TrainableModel; readonly before?: LanguageModel | undefined; readonly close: () => Promise<void> }>;
  /** The folder (absolute) of the Conductor's model, for engines that need its tokenizer alone. @throws ModelMissingError */
  readonly modelFolder: (conductor: Pick<WorkerConfig, 'model'>) => Promise<string>;
}

/**
 * Makes a call within the training's budget. Until it has ended the most that it may cost, in dollars, is set aside; then what it did cost.
 * @throws what says that the budget does not hold it; what the call throws
 */
export type Pay = <T>(mostUsd: number, call: () => Promise<T>, usedUsd: (result: T) => number, signal?: AbortSignal) => Promise<T>;

export interface EngineStart {
  readonly config: Pick<TrainingConfig, 'train' | 'adapter' | 'engine' | 'seed' | 'team'>;
  /** With the adapter that the training starts from, if it has one. */
  readonly conductor: WorkerConfig;
  /** The folder (absolute) that holds one adapter per version. */
  readonly versions: string;
  /** Where an earlier process stopped: the version to sample from, and a folder that `saveState` wrote. */
  readonly from?: { readonly version: string; readonly engineState: string } | undefined;
  /** Only samples, from what another machine trains on the same server. */
  readonly samplesOnly?: boolean | undefined;
  /** For engines that need one. */
  readonly keys: KeySource;
  /** For engines that cost money. */
  readonly pay?: Pay | undefined;
  /** Ends the opening. */
  readonly signal?: AbortSignal | undefined;
}

/** What other machines need to sample from what a server trains, and to be understood. */
export interface SharedModel {
  /** The server's name of the model. */
  readonly model: string;
  /** How many tokens there are. */
  readonly vocabulary: number;
  /** The most tokens of a prompt with its answer. */
  readonly contextLength: number;
  /** Where the server keeps the latest version; undefined where that is the model as it was. */
  readonly latest: string | undefined;
  /** Where it keeps the weights of that version. */
  readonly saved: string | undefined;
  /** Samples from a version that another machine saved. */
  sampleFrom(version: string | undefined, weights: string | undefined): void;
  /** From now on has its weights as its own, since the machine that saved them may train no more. */
  sampleAlone(): void;
  /** Has the server have the latest version, where it lost it: then that has another place. */
  renew(signal?: AbortSignal): Promise<void>;
}

export interface OpenedEngine {
  readonly engine: TrainEngine;
  /** Where the engine's server can be used by several machines. */
  readonly shared?: SharedModel | undefined;
  readonly close: () => Promise<void>;
}
