import path from 'node:path';
import * as vscode from 'vscode';
import { relativePath } from '../common/workspace-paths.ts';

/** A file of a run's folder, or lines of it, to link to; undefined outside the folder. Lines count from 1. */
export function placeOf(workspace: string | undefined, file: string, startLine?: number, endLine = startLine): vscode.Uri | vscode.Location | undefined {
  if (workspace === undefined || relativePath(workspace, path.resolve(workspace, file)) === undefined) return undefined;
  const uri = vscode.Uri.file(path.resolve(workspace, file));
  if (startLine === undefined || endLine === undefined) return uri;
  return new vscode.Location(uri, new vscode.Range(startLine - 1, 0, Math.max(startLine, endLine) - 1, 0));
}

/**
 * The open folder that a tool is to work on.
 * @param named its name or path, or a path inside it
 * @returns undefined if no folder is open
 * @throws an error with a sentence, for the model that called the tool
 */
export function folderCalled(named: string | undefined, editor = vscode.window.activeTextEditor): vscode.WorkspaceFolder | undefined {
  const folders = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file');
  const names = folders.map(({ name }) => name).join(', ');
  if (named !== undefined) {
    const found = folders.find(({ name, uri }) => name === named || uri.fsPath === named || relativePath(uri.fsPath, named) !== undefined);
    if (!found) throw new Error(vscode.l10n.t('{0} is not in a folder that is open here. Open are: {1}.', named, names));
    return found;
  }
  if (folders.length <= 1) return folders[0];
  const active = editor && vscode.workspace.getWorkspaceFolder(editor.document.uri);
  if (active && folders.includes(active)) return active;
  throw new Error(vscode.l10n.t('Several folders are open. Name one of them: {0}.', names));
}
