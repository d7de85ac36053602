import * as vscode from 'vscode';
import { formatUsd } from '../backend/protocol/figures.ts';

/**
 * What a training may cost at most, in dollars; undefined where nobody says.
 * @param spent what it has cost by now: less than that makes no sense
 */
export async function askBudget({ title, usd, spent = 0 }: {
  readonly title: string; readonly usd: number; readonly spent?: number;
}): Promise<number | undefined> {
  const text = await vscode.window.showInputBox({
    title,
    prompt: spent > 0
      ? vscode.l10n.t('The most that the training may spend in all, in dollars; {0} is spent already', formatUsd(spent))
      : vscode.l10n.t('The most that the training may spend, in dollars'),
    value: String(usd),
    ignoreFocusOut: true,
    validateInput: (value) => problemOf(amountOf(value), spent),
  });
  return text === undefined ? undefined : amountOf(text);
}

function problemOf(usd: number | undefined, spent: number): string | undefined {
  if (usd === undefined) return vscode.l10n.t('Write an amount of dollars above 0, such as 2.50.');
  return usd > spent ? undefined : vscode.l10n.t('{0} is spent already: write more than that.', formatUsd(spent));
}

function amountOf(text: string): number | undefined {
  const usd = Number(text.trim().replace(/^\$/, ''));
  return text.trim() !== '' && Number.isFinite(usd) && usd > 0 ? usd : undefined;
}
