import { ERROR_CODES } from '../protocol/methods.ts';
import { RequestError } from '../protocol/request-error.ts';
import { RunNotFoundError, RunRefusedError } from '../solve/errors.ts';
import { BudgetSpentError, WorkerError } from '../workers/errors.ts';
import { ConfigFileError } from '../workers/read-json-file.ts';

/** What a client is told of a known error, decided by its class. `undefined` for every other: those are faults, and stay in the log. */
export function explainError(error: unknown): RequestError | undefined {
  if (error instanceof RunNotFoundError) {
    return new RequestError({ code: ERROR_CODES.notFound, kind: 'run-not-found', message: error.message });
  }
  if (error instanceof RunRefusedError) {
    return new RequestError({ code: ERROR_CODES.refused, kind: 'run-refused', message: error.message });
  }
  if (error instanceof WorkerError) return new RequestError({ code: ERROR_CODES.refused, kind: error.kind, message: error.message });
  if (error instanceof BudgetSpentError) {
    return new RequestError({ code: ERROR_CODES.refused, kind: 'budget-spent', message: error.message });
  }
  if (error instanceof ConfigFileError) {
    return new RequestError({ code: ERROR_CODES.refused, kind: 'config-file', message: error.message });
  }
  return undefined;
}
