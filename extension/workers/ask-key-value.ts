import * as vscode from 'vscode';

/** @returns the key; an empty string keeps the stored one; undefined after Escape */
export async function askKeyValue(name: string, { keepable }: { keepable: boolean }): Promise<string | undefined> {
  return askHidden({
    title: vscode.l10n.t('Conductor: Set Key'),
    prompt: keepable
      ? vscode.l10n.t('Value of {0}; leave empty to keep the stored one. It is stored in VS Code’s secret storage.', name)
      : vscode.l10n.t('Value of {0}. It is stored in VS Code’s secret storage.', name),
    required: !keepable,
  });
}

/** The effect of an empty input. */
export type WithoutKey = 'refused' | 'kept' | 'none';

/** @param server its display name. @returns the key; an empty string for the stored key or none; undefined after Escape */
export async function askServerKey(server: string, without: WithoutKey): Promise<string | undefined> {
  const prompts: Readonly<Record<WithoutKey, string>> = {
    refused: vscode.l10n.t('The key for {0}. It is stored in VS Code’s secret storage.', server),
    kept: vscode.l10n.t('The key for {0}; leave empty to keep the stored one. It is stored in VS Code’s secret storage.', server),
    none: vscode.l10n.t('The key for {0}; leave empty if it wants none. It is stored in VS Code’s secret storage.', server),
  };
  return askHidden({ title: vscode.l10n.t('Conductor: Add Worker'), prompt: prompts[without], required: without === 'refused' });
}

async function askHidden({ title, prompt, required }: { title: string; prompt: string; required: boolean }): Promise<string | undefined> {
  const value = await vscode.window.showInputBox({
    title, prompt, password: true, ignoreFocusOut: true,
    validateInput: (typed) => (required && typed.trim() === '' ? vscode.l10n.t('Paste the key.') : undefined),
  });
  return value?.trim();
}
