import * as vscode from 'vscode';
import type { WorkerConfig } from '../../backend/protocol/worker-config.ts';

/** Asks once whether workers that can use tools may. Escape is a no. @returns the workers as they are to be saved */
export async function letHands(workers: readonly WorkerConfig[]): Promise<WorkerConfig[]> {
  const able = workers.filter(({ hands }) => hands !== undefined);
  const [first] = able;
  if (!first) return [...workers];
  const question = able.length === 1
    ? vscode.l10n.t('May the worker "{0}" look at files, edit them and run commands in a private copy of the project?', first.id)
    : vscode.l10n.t('May {0} workers look at files, edit them and run commands in a private copy of the project?', able.length);
  const detail = vscode.l10n.t(
    'A step then takes several calls and costs more. The copy is in the sandbox, without network, and your files change only when you apply an answer. To change it later, edit "hands" in workers.json.',
  );
  const allow = vscode.l10n.t('Allow');
  const chosen = await vscode.window.showInformationMessage(question, { modal: true, detail }, allow, vscode.l10n.t('Answers Only'));
  return chosen === allow ? [...workers] : workers.map(({ hands: _refused, ...rest }) => rest);
}
