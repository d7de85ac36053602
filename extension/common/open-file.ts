import { existsSync } from 'node:fs';
import * as vscode from 'vscode';
import { insideFolder } from './workspace-paths.ts';

/**
 * Shows a file mentioned in the panel, if it is in the run's folder. If that folder is not open in this window, the file is read-only.
 * @param line from 1.
 */
export async function openWorkspaceFile(workspace: string | undefined, path: string, line: number | undefined): Promise<void> {
  const open = vscode.workspace.workspaceFolders?.some(({ uri }) => uri.fsPath === workspace) ?? false;
  const file = workspace !== undefined ? await insideFolder(workspace, path) : undefined;
  if (file === undefined) throw new Error(vscode.l10n.t('{0} is not in the folder of this question.', path));
  if (!existsSync(file)) throw new Error(vscode.l10n.t('{0} is not there any more.', path));
  const start = new vscode.Position((line ?? 1) - 1, 0);
  await vscode.window.showTextDocument(vscode.Uri.file(file), {
    preview: true, ...(line !== undefined && { selection: new vscode.Range(start, start) }),
  });
  if (!open) await vscode.commands.executeCommand('workbench.action.files.setActiveEditorReadonlyInSession');
}
