/** Where a question is asked: a path relative to the workspace, line and column from 1. */
export interface CursorPlace {
  readonly path: string;
  readonly line: number;
  readonly column: number;
}

/**
 * The question with where its answer belongs, for models and therefore in one language. It quotes nothing of the file: a question
 * is sent as it is, and only the context leaves out ignored files and lines that look like a secret.
 */
export function questionAt(question: string, { path, line, column }: CursorPlace): string {
  return [
    question.trim(),
    `The cursor is in line ${line} of ${path}, at column ${column}, both counted from 1.`,
    'Insert the code that is asked for at the cursor and change nothing else.',
  ].join('\n\n');
}
