import type { AskedEvaluation } from '../../protocol/evaluation-request.ts';
import type { EvaluationOffer } from '../../protocol/evaluations.ts';
import type { Simulation } from '../../protocol/simulation.ts';
import type { Evaluation } from './open-evaluation.ts';

/** What is to be evaluated, and where. */
export interface EvaluationRequest extends AskedEvaluation {
  /** The simulation that runs, where its workers are meant. */
  readonly simulation?: Simulation | undefined;
  /** Absolute. */
  readonly folder: string;
}

/** For an evaluation that has to make its tasks first. */
export interface WhilePreparing {
  readonly signal: AbortSignal;
  /** Called after each candidate for a task of the project. */
  readonly onPreparing?: ((told: { readonly tried: number; readonly candidates: number; readonly admitted: number }) => void) | undefined;
}

export interface OpenedEvaluation extends Pick<EvaluationOffer, 'tasks' | 'pool'> {
  readonly evaluation: Evaluation;
  close(): Promise<void>;
}
