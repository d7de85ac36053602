import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import type { RunFileFormat } from '../backend/protocol/methods.ts';
import type { BackendConnection } from './backend-connection.ts';

/** Writes a run into a file that the person chooses. @throws an error with a sentence; then there is no new file, and an old one stays */
export async function exportRun(runId: string, connection: Pick<BackendConnection, 'request'>): Promise<void> {
  const title = vscode.l10n.t('Conductor: Export Run');
  const picked = await vscode.window.showQuickPick([
    { format: 'markdown', label: 'Markdown', description: vscode.l10n.t('a document for people: plans, outputs, tests, changes, cost') },
    { format: 'json', label: 'JSON', description: vscode.l10n.t('everything, for programs') },
  ] satisfies (vscode.QuickPickItem & { format: RunFileFormat })[], { title, placeHolder: vscode.l10n.t('As what?') });
  if (!picked) return;
  const { text, fileName } = await connection.request('run/export', { runId, format: picked.format });
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const file = await vscode.window.showSaveDialog({
    title,
    ...(folder && { defaultUri: vscode.Uri.joinPath(folder, fileName) }),
    filters: { [picked.label]: [picked.format === 'json' ? 'json' : 'md'] },
  });
  if (!file) return;
  await writeWhole(file, text);
  const open = vscode.l10n.t('Open');
  void vscode.window.showInformationMessage(vscode.l10n.t('The run was written to {0}.', vscode.workspace.asRelativePath(file)), open).then(async (chosen) => {
    if (chosen === open) await vscode.window.showTextDocument(file);
  });
}

/** Whole or not at all: the text goes to a file beside it, which then takes its place. */
async function writeWhole(file: vscode.Uri, text: string): Promise<void> {
  const { fs } = vscode.workspace;
  const beside = file.with({ path: `${file.path}.${randomUUID()}.tmp` });
  try {
    await fs.writeFile(beside, new TextEncoder().encode(text));
    await fs.rename(beside, file, { overwrite: true });
  } catch (error) {
    await fs.delete(beside).then(undefined, () => undefined);
    throw new Error(vscode.l10n.t('The run could not be written: {0}', error instanceof Error ? error.message : String(error)), { cause: error });
  }
}
