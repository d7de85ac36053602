import type * as vscode from 'vscode';

const KEY = 'conductor.runForFolder';

interface RunForFolder {
  readonly folder: string;
  readonly runId: string;
}

/** Has the window that opens the folder next show the run for whose sake it is opened. `memory` is that of all windows. */
export async function leaveRunFor(memory: Pick<vscode.Memento, 'update'>, wanted: RunForFolder): Promise<void> {
  await memory.update(KEY, wanted);
}

/** The run that another window has left for this one's folders, once. */
export function takeRunFor(memory: Pick<vscode.Memento, 'get' | 'update'>, folders: readonly string[]): string | undefined {
  const wanted = memory.get<RunForFolder>(KEY);
  if (!wanted || !folders.includes(wanted.folder)) return undefined;
  void memory.update(KEY, undefined);
  return wanted.runId;
}
