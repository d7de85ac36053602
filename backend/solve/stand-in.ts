import type { Failure } from '../protocol/run-events.ts';
import type { RunSnapshot } from '../protocol/run-snapshot.ts';
import type { WorkerConfig } from '../protocol/worker-config.ts';
import type { Expectation } from '../records/worker-records.ts';
import { roleOfStep } from '../protocol/step-role.ts';
import { WorkerError, type WorkerErrorKind } from '../workers/errors.ts';
import type { StepPlace } from './kept-events.ts';
import { modelKey, serverKey } from '../workers/servers/server-of.ts';
import { usualStepUsd } from './usual-step.ts';

/*
 * Who does a step whose worker fails. docs/decisions/0021 has the reasons.
 */

/** What a person has to mend: whoever failed so is not asked again in this run. */
const LASTING: ReadonlySet<string> = new Set<WorkerErrorKind>(['authentication', 'missing-key', 'payment', 'permission', 'not-found', 'model-unusable']);
/** What holds for every call of the model, whatever the worker's other settings. */
const OF_THE_MODEL: ReadonlySet<string> = new Set<WorkerErrorKind>(['not-found', 'permission', 'context-overflow', 'model-unusable']);

/** In dollars. Steps that cost less than this differ little in cost. */
const SMALL_COST = 0.0001;

/** Whether a step is given to another worker after this error of its worker. Retries have been made by then. */
export function isHandedOn(error: unknown): error is WorkerError {
  return error instanceof WorkerError && error.kind !== 'cancelled';
}

/** Why this worker need not be asked again in this run; undefined if it may. */
export function lastingFailure({ failedWorkers = [] }: Pick<RunSnapshot, 'failedWorkers'>, worker: number): Failure | undefined {
  return failedWorkers.find((failed) => failed.worker === worker && LASTING.has(failed.failure.kind))?.failure;
}

/**
 * The ordinal of the worker that does a step in the place of one that failed; undefined if nobody is left. The plan's own choice comes first
 * where it may be asked again, then workers at another server, then the better record here, then the nearer price.
 * @param failure of the step's worker
 * @param expected of workers, by what tests said of them
 * @param may whether a worker may do it at all; by default everybody may
 */
export function standInFor(
  run: Pick<RunSnapshot, 'pool' | 'rounds' | 'failedWorkers'>, { round, step }: StepPlace, failure: Failure, expected: Expectation,
  may: (worker: WorkerConfig) => boolean = () => true,
): number | undefined {
  const { pool, rounds, failedWorkers = [] } = run;
  const view = rounds[round]?.steps[step];
  const failed = view && pool[view.worker];
  if (!failed) return undefined;
  const planned = view.handedOn?.[0]?.worker;
  const role = roleOfStep(view.subtask);
  const hasFailed = (worker: number): boolean => worker === view.worker || lastingFailure(run, worker) !== undefined
    || failedWorkers.some((one) => one.worker === worker && one.round === round && one.step === step);
  const failsAlike = (worker: WorkerConfig): boolean => OF_THE_MODEL.has(failure.kind) && modelKey(worker) === modelKey(failed);
  const candidates = pool.flatMap((worker, ordinal) => {
    // What a simulation says must not pass for a model's work, nor the other way round.
    if (!may(worker) || hasFailed(ordinal) || failsAlike(worker) || worker.simulated !== failed.simulated) return [];
    return [{
      ordinal,
      isPlanned: ordinal === planned,
      isElsewhere: serverKey(worker) !== serverKey(failed),
      share: expected(worker, role),
      distance: distance(worker, failed),
    }];
  });
  // Sorting is stable: of equals, the first of the pool.
  const [best] = candidates.toSorted((a, b) =>
    Number(b.isPlanned) - Number(a.isPlanned) || Number(b.isElsewhere) - Number(a.isElsewhere) || b.share - a.share || a.distance - b.distance);
  return best?.ordinal;
}

/** The error to end with if others failed at the step before. */
export function noneLeft({ failedWorkers = [] }: Pick<RunSnapshot, 'failedWorkers'>, { round, step }: StepPlace, error: unknown): unknown {
  const others = failedWorkers.filter((one) => one.round === round && one.step === step).length;
  if (!isHandedOn(error) || others === 0) return error;
  return new WorkerError({ kind: error.kind, message: `Nobody is left for step ${step + 1}: ${others + 1} workers failed, the last one so: ${error.message}`, cause: error });
}

/** How far apart two workers are in price, as a ratio. The plan's choice says what strength a step needs and what it may cost. */
function distance(a: WorkerConfig, b: WorkerConfig): number {
  const [usdA, usdB] = [usualStepUsd(a), usualStepUsd(b)];
  if (usdA === undefined || usdB === undefined) return usdA === usdB ? 0 : Number.MAX_VALUE;
  return Math.abs(Math.log((usdA + SMALL_COST) / (usdB + SMALL_COST)));
}
