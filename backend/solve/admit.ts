import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { RunRequest } from '../protocol/run-request.ts';
import { RunError } from './failure.ts';

/** Checks whether a question can be answered, before anything is read, run or paid for. @throws RunError */
export async function admit({ question, workspace, trusted }: RunRequest): Promise<void> {
  if (question === '') throw new RunError('empty-question', 'The question is empty: write what you want to know or have changed.');
  if (!trusted) {
    throw new RunError('untrusted-workspace', 'This workspace is not trusted, so no file of it was read or run: trust it and ask again.');
  }
  if (workspace === undefined) return;
  const isFolder = path.isAbsolute(workspace) && (await stat(workspace).then((found) => found.isDirectory(), () => false));
  if (!isFolder) throw new RunError('workspace', `The workspace "${workspace}" is not a folder: name the folder of your project.`);
}
