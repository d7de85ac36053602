import { TurnError } from '../converse/turn-error.ts';
import { EvaluationFileError } from '../eval/evaluation/evaluation-file.ts';
import { EvaluationRequestError } from '../eval/evaluation/request-error.ts';
import { JournalUnavailableError, UnreadableRunError } from '../journal/errors.ts';
import { ERROR_CODES } from '../protocol/methods.ts';
import { RequestError } from '../protocol/request-error.ts';
import { RunNotFoundError, RunRefusedError } from '../solve/errors.ts';
import { RunError } from '../solve/failure.ts';
import { TrainingError, TrainingRefusedError } from '../train/trainings/training-error.ts';
import { BudgetSpentError, WorkerError } from '../workers/errors.ts';
import { ConfigFileError } from '../workers/read-json-file.ts';

/**
 * Converts a known error, by its class, to the error that the client receives. Returns `undefined` for all others: these are bugs, and
 * their text only goes to the log.
 */
export function explainError(error: unknown): RequestError | undefined {
  if (error instanceof RunNotFoundError) return refusal('run-not-found', error, ERROR_CODES.notFound);
  if (error instanceof RunRefusedError) return refusal('run-refused', error);
  if (error instanceof TurnError) return new RequestError({ code: ERROR_CODES.refused, kind: error.kind, message: error.message, retryAfterMs: error.retryAfterMs });
  if (error instanceof RunError) return new RequestError({ code: ERROR_CODES.refused, kind: error.kind, message: error.message });
  if (error instanceof WorkerError) return refusal(error.kind, error);
  if (error instanceof BudgetSpentError) return refusal('budget-spent', error);
  if (error instanceof TrainingRefusedError || error instanceof TrainingError) return refusal('training-refused', error);
  if (error instanceof EvaluationRequestError || error instanceof EvaluationFileError) return refusal('evaluation-refused', error);
  if (error instanceof ConfigFileError) return refusal('config-file', error);
  if (error instanceof JournalUnavailableError || error instanceof UnreadableRunError) return refusal('journal', error);
  return undefined;
}

function refusal(kind: string, { message }: Error, code: number = ERROR_CODES.refused): RequestError {
  return new RequestError({ code, kind, message });
}
