import * as vscode from 'vscode';

/** @returns the key, an empty text to keep the stored one, or undefined when the person presses Escape. */
export async function askKeyValue(name: string, { keepable }: { keepable: boolean }): Promise<string | undefined> {
  const value = await vscode.window.showInputBox({
    title: vscode.l10n.t('Conductor: Set Key'),
    prompt: keepable
      ? vscode.l10n.t('Value of {0}; leave empty to keep the stored one. It is stored in VS Code’s secret storage.', name)
      : vscode.l10n.t('Value of {0}. It is stored in VS Code’s secret storage.', name),
    password: true,
    ignoreFocusOut: true,
    validateInput: (typed) => (typed.trim() === '' && !keepable ? vscode.l10n.t('Paste the key.') : undefined),
  });
  return value?.trim();
}
