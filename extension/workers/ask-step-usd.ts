import * as vscode from 'vscode';

/** Asks what is set aside for a step. @returns dollars; undefined if the person went back */
export async function askStepUsd(label: string): Promise<number | undefined> {
  const written = await vscode.window.showInputBox({
    title: vscode.l10n.t('Conductor: Add Worker'),
    prompt: vscode.l10n.t('Dollars set aside for each step of {0}, which count where it does not say what it cost; 0 if your subscription covers it.', label),
    value: '0.5',
    ignoreFocusOut: true,
    validateInput: (value) => (dollarsIn(value) === undefined ? vscode.l10n.t('An amount in dollars, such as 0.5.') : undefined),
  });
  return written === undefined ? undefined : dollarsIn(written);
}

function dollarsIn(written: string): number | undefined {
  const amount = Number(written.trim().replace(',', '.'));
  return written.trim() !== '' && Number.isFinite(amount) && amount >= 0 ? amount : undefined;
}
