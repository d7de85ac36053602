import type { EvaluationBudget } from './evaluation-file.ts';
import type { ContestantName } from './line-up.ts';
import type { Evaluation } from './open-evaluation.ts';

/** What is to be evaluated. */
export interface EvaluationRequest {
  /** Files (absolute), or `gym`. */
  readonly sources: readonly string[];
  /** Files (absolute) of tasks that routers learn from. */
  readonly practice: readonly string[];
  readonly contestants: readonly ContestantName[];
  /** Workers that plan: `ID`, or `ID/base` without its adapter. */
  readonly planners: readonly string[];
  /** Ids; all enabled workers by default. */
  readonly pool?: readonly string[] | undefined;
  /** Simulated workers instead of those of workers.json. */
  readonly simulated: boolean;
  readonly best?: string | undefined;
  /** At most this many tasks of each source. */
  readonly limit?: number | undefined;
  readonly seeds: number;
  readonly seed: number;
  readonly budget: EvaluationBudget;
  /** Absolute. */
  readonly folder: string;
  readonly concurrency: number;
}

export interface OpenedEvaluation {
  readonly evaluation: Evaluation;
  /** Ids by ordinal. */
  readonly pool: readonly string[];
  readonly tasks: readonly { readonly name: string; readonly tasks: number; readonly forms: Readonly<Record<string, number>> }[];
  close(): Promise<void>;
}

/** The request cannot be met. The message says why and what to do. */
export class EvaluationRequestError extends Error {
  override readonly name = 'EvaluationRequestError';
}
