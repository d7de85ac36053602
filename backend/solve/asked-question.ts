import type { RunRequest } from '../protocol/run-request.ts';

/**
 * The question as models are asked it: the person's own words, and where the answer belongs, in one language. It quotes nothing of the
 * file: a question is sent as it is, and only the context leaves out ignored files and lines that look like a secret.
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
