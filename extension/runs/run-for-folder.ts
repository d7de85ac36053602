import type * as vscode from 'vscode';

const KEY = 'conductor.runForFolder';

interface RunForFolder {
  readonly folder: string;
  readonly runId: string;
}

/** Makes the window that next opens the folder show the run. `memory` is shared by all windows. */
export async function leaveRunFor(memory: Pick<vscode.Memento, 'update'>, wanted: RunForFolder): Promise<void> {
  await memory.update(KEY, wanted);
}

/** Returns, once, the run that another window left for this window's folders. */
export function takeRunFor(memory: Pick<vscode.Memento, 'get' | 'update'>, folders: readonly string[]): string | undefined {
  const wanted = memory.get<RunForFolder>(KEY);
  if (!wanted || !folders.includes(wanted.folder)) return undefined;
  void memory.update(KEY, undefined);
  return wanted.runId;
}
