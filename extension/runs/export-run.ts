import { randomUUID } from 'node:crypto';
import { homedir } from 'node:os';
import path from 'node:path';
import * as vscode from 'vscode';
import type { RunFileFormat } from '../../backend/protocol/methods.ts';
import type { BackendConnection } from '../common/backend-connection.ts';

/** The folder of the last exported run. */
const FOLDER_KEY = 'conductor.exportFolder';

export interface ExportOptions {
  readonly connection: Pick<BackendConnection, 'request'>;
  /** Survives a reload of the window. */
  readonly memory: Pick<vscode.Memento, 'get' | 'update'>;
}

/**
 * Writes a run to a file that the user chooses. Suggests the last used folder, at first the home folder.
 * @throws an error with a sentence; no new file is left then, and an old one stays
 */
export async function exportRun(runId: string, { connection, memory }: ExportOptions): Promise<void> {
  const title = vscode.l10n.t('Conductor: Export Run');
  const picked = await vscode.window.showQuickPick([
    { format: 'markdown', label: 'Markdown', description: vscode.l10n.t('a readable document: plans, outputs, tests, changes, cost') },
    { format: 'json', label: 'JSON', description: vscode.l10n.t('everything, for programs') },
  ] satisfies (vscode.QuickPickItem & { format: RunFileFormat })[], { title, placeHolder: vscode.l10n.t('As what?') });
  if (!picked) return;
  const { text, fileName } = await connection.request('run/export', { runId, format: picked.format });
  const file = await vscode.window.showSaveDialog({
    title,
    defaultUri: vscode.Uri.joinPath(vscode.Uri.file(memory.get<string>(FOLDER_KEY) ?? homedir()), fileName),
    filters: { [picked.label]: [picked.format === 'json' ? 'json' : 'md'] },
  });
  if (!file) return;
  await writeWhole(file, text);
  if (file.scheme === 'file') await memory.update(FOLDER_KEY, path.dirname(file.fsPath));
  const open = vscode.l10n.t('Open');
  void vscode.window.showInformationMessage(vscode.l10n.t('The run was written to {0}.', vscode.workspace.asRelativePath(file)), open).then(async (chosen) => {
    if (chosen === open) await vscode.window.showTextDocument(file);
  });
}

/** Writes atomically: to a temporary file beside the target, then renames it. */
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
