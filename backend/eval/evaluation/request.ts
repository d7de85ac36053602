import type { EvaluationBudget } from './evaluation-file.ts';
import type { DateWindow } from './file-tasks.ts';
import type { ContestantName } from './line-up.ts';
import type { Simulation } from '../../protocol/simulation.ts';
import type { Evaluation } from './open-evaluation.ts';
import type { ProjectSourceRequest } from './project-source.ts';

/** What is to be evaluated. */
export interface EvaluationRequest {
  /** Files (absolute), `gym`, or `project`. */
  readonly sources: readonly string[];
  /** Files (absolute) of tasks that routers learn from, or `project`: tasks of other files of the project than those of the evaluation. */
  readonly practice: readonly string[];
  /** What `project` is: the workspace (absolute), and how its tests run. */
  readonly project?: Pick<ProjectSourceRequest, 'workspace' | 'test' | 'image'> | undefined;
  readonly contestants: readonly ContestantName[];
  /** Workers that plan, with their switches; see `conductor-switches.ts`. */
  readonly planners: readonly string[];
  /** Of each Conductor whose switches name none. */
  readonly rounds: number;
  readonly attempts: number;
  /** A file (absolute) of a person's examples for the prompts of Conductors. */
  readonly examples?: string | undefined;
  /** Ids; all enabled workers by default. */
  readonly pool?: readonly string[] | undefined;
  /** Simulated workers instead of those of workers.json. */
  readonly simulated: boolean;
  /** The simulation that runs, where its workers are meant. */
  readonly simulation?: Simulation | undefined;
  readonly best?: string | undefined;
  /** BigCodeBench's questions: in words, or the start of a program. */
  readonly bigCodeBench?: 'instruct' | 'complete' | undefined;
  /** Of tasks of files that have dates. */
  readonly dates?: DateWindow | undefined;
  /** At most this many tasks of each source. */
  readonly limit?: number | undefined;
  readonly seeds: number;
  readonly seed: number;
  readonly budget: EvaluationBudget;
  /** Absolute. */
  readonly folder: string;
  readonly concurrency: number;
}

/** For an evaluation that has to make its tasks first. */
export interface WhilePreparing {
  readonly signal: AbortSignal;
  /** Called after each candidate for a task of the project. */
  readonly onPreparing?: ((told: { readonly tried: number; readonly candidates: number; readonly admitted: number }) => void) | undefined;
}

export interface OpenedEvaluation {
  readonly evaluation: Evaluation;
  /** Ids by ordinal. */
  readonly pool: readonly string[];
  readonly tasks: readonly { readonly name: string; readonly tasks: number; readonly forms: Readonly<Record<string, number>> }[];
  close(): Promise<void>;
}
