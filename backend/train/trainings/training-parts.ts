import type { Journal } from '../../journal/journal.ts';
import type { Training, TrainingChange, TrainingLimits } from '../../protocol/training.ts';
import type { WorkerConfig } from '../../protocol/worker-config.ts';
import type { GraderTools } from '../../verify/graders/tasks/create-grader.ts';
import type { HandsParts } from '../../solve/work-with-hands.ts';
import type { Verifier } from '../../verify/verify.ts';
import type { ClientModel } from '../../workers/adapters/client-model.ts';
import type { WorkerCaller } from '../../workers/call-worker.ts';
import type { KeySource } from '../../workers/key-source.ts';
import type { Prices } from '../../workers/limits/prices.ts';
import type { EngineParts } from '../engines/engine-start.ts';
import type { TaskMakerParts } from '../tasks/project-tasks.ts';
import type { TeamKeys } from '../team/coordinator-server.ts';
import type { JudgeParts } from './judge.ts';
import type { Known } from './learned-outcomes.ts';
import type { TrainingCast } from './training-cast.ts';
import type { TrainingFolder } from './training-folder.ts';

/** What trainings use of the process they run in. */
export interface TrainingRunParts extends EngineParts, JudgeParts {
  readonly journal: Journal;
  readonly caller: WorkerCaller;
  readonly prices: Prices;
  readonly clientModel?: ClientModel | undefined;
  /** For workers with hands, as in `RolloutRunnerOptions`. */
  readonly hands?: Omit<HandsParts, 'checker'> | undefined;
  readonly verifier: Pick<Verifier, 'verify' | 'onBase' | 'notices' | 'testBase' | 'tryTests'>;
  readonly gatherContext: TaskMakerParts['gatherContext'];
  readonly graderTools: GraderTools;
  /** SHA-256 of the weights of a model whose name does not identify them; undefined for any other. */
  readonly baseOf?: ((conductor: Pick<WorkerConfig, 'model' | 'weights'>) => Promise<string | undefined>) | undefined;
  /** What it takes to train all weights of the Conductor's model on this machine, and why it cannot be; both as parts of a sentence. `heldBytes` of a training that goes on are on the disk already. */
  readonly weightsTraining: (conductor: Pick<WorkerConfig, 'model' | 'weights'>, heldBytes?: number) => Promise<{ readonly needs: string; readonly problem?: string | undefined }>;
  /** Of members of teams. Without it this process coordinates none. */
  readonly teamKeys?: TeamKeys | undefined;
  /** For unexpected errors that end nothing. */
  readonly log?: ((message: string) => void) | undefined;
  readonly delay: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly now: () => number;
}

export interface TrainingRunOptions {
  readonly training: Training;
  readonly folder: TrainingFolder;
  readonly cast: TrainingCast;
  readonly keys: KeySource;
  /** What the Conductor has learned from the journal already. */
  readonly known: Known;
  /** The training's limits now: they can be raised while it runs. */
  readonly limits: () => TrainingLimits;
  readonly signal: AbortSignal;
  /** On disk when it returns, where `state`, `step` or `comparison` changed. @throws the signal's reason */
  readonly change: (change: TrainingChange) => Promise<void>;
  /** The same without waiting; a change that cannot be saved ends the training. */
  readonly report: (change: TrainingChange) => void;
}
