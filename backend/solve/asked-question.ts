import type { RunRequest } from '../protocol/run-request.ts';
import type { RunSnapshot } from '../protocol/run-snapshot.ts';

/**
 * The question as models get it: the person's words and, in English, the place where the answer belongs. It quotes no file, because
 * questions are sent unfiltered; only the context leaves out ignored files and lines that look like secrets.
 */
export function askedQuestion({ question, insertAt }: Pick<RunRequest, 'question' | 'insertAt'>): string {
  if (!insertAt) return question;
  const { path, line, column } = insertAt;
  return [
    question.trim(),
    `The cursor is in line ${line} of ${path}, at column ${column}, both counted from 1.`,
    'Insert the code that is asked for at the cursor and change nothing else.',
  ].join('\n\n');
}

/** Whether the answer may change a person's project. A training's questions are read as they were learned. */
export const isInProject = ({ kind, request }: Pick<RunSnapshot, 'kind' | 'request'>): boolean => kind === 'solve' && request.workspace !== undefined;
