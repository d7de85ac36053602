import path from 'node:path';
import * as vscode from 'vscode';
import type { PoolStore } from './pool-store.ts';

/** Reads the pool again when `workers.json` changes, whoever changes it: an editor, another window or the command line. */
export function watchWorkersFile(poolStore: Pick<PoolStore, 'refresh' | 'changed'>): vscode.Disposable {
  let watched: string | undefined;
  let watcher: vscode.FileSystemWatcher | undefined;
  // A failure is ignored: the next command that needs the pool reads it again and reports the error.
  const refresh = (): void => void poolStore.refresh().catch(() => undefined);
  // Only the backend knows where the file is.
  const off = poolStore.changed.on(({ file }) => {
    if (file === watched) return;
    watched = file;
    watcher?.dispose();
    watcher = vscode.workspace.createFileSystemWatcher(new vscode.RelativePattern(vscode.Uri.file(path.dirname(file)), path.basename(file)));
    watcher.onDidCreate(refresh);
    watcher.onDidChange(refresh);
  });
  return new vscode.Disposable(() => {
    off();
    watcher?.dispose();
  });
}
