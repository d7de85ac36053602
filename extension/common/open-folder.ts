import * as vscode from 'vscode';

/** The folder of this window that a run's workspace (absolute) is; undefined if it is not open here. */
export const openFolder = (workspace: string): vscode.WorkspaceFolder | undefined =>
  vscode.workspace.workspaceFolders?.find(({ uri }) => uri.scheme === 'file' && uri.fsPath === workspace);
