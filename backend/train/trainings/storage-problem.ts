import { TrainingError } from './training-error.ts';

const FILE_PROBLEMS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EIO: 'the disk reports an error',
  EROFS: 'the disk is read-only',
  EACCES: 'access is denied',
  EPERM: 'access is denied',
  EMFILE: 'too many files are open',
};

/** Primary result codes (https://sqlite.org/rescode.html). */
const SQLITE_PROBLEMS: Readonly<Record<number, string>> = {
  5: 'another process locks the database',
  8: 'the database is read-only',
  10: 'the disk reports an error',
  13: 'the disk is full',
  14: 'the database cannot be opened',
};

/** Turns a failed write into a sentence that says what happened and what to do. */
export function notSaved(error: unknown): TrainingError {
  const { message } = error instanceof Error ? error : new Error(String(error));
  const problem = problemOf(error);
  const reason = problem === undefined ? message : `${problem} (${message})`;
  return new TrainingError(`The training could not be saved: ${reason}. Fix this, then resume the training.`);
}

/** Whether the error comes from the file system or from SQLite. */
export const isStorageProblem = (error: unknown): boolean => problemOf(error) !== undefined;

function problemOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return error.code === 'ERR_SQLITE_ERROR' && 'errcode' in error
    ? SQLITE_PROBLEMS[Number(error.errcode) & 0xff]
    : FILE_PROBLEMS[String(error.code)];
}
