import * as vscode from 'vscode';
import { insideFolder } from './workspace-paths.ts';

/**
 * Shows a file that text in the panel names. Only files of the run's folder, and only where that folder is open here.
 * @param line from 1.
 */
export async function openWorkspaceFile(workspace: string | undefined, path: string, line: number | undefined): Promise<void> {
  const open = vscode.workspace.workspaceFolders?.some(({ uri }) => uri.fsPath === workspace) ?? false;
  const file = workspace !== undefined && open ? await insideFolder(workspace, path) : undefined;
  if (file === undefined) throw new Error(vscode.l10n.t('{0} is not in a folder that is open here.', path));
  const start = new vscode.Position((line ?? 1) - 1, 0);
  await vscode.window.showTextDocument(vscode.Uri.file(file), {
    preview: true, ...(line !== undefined && { selection: new vscode.Range(start, start) }),
  });
}
