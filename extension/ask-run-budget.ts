import * as vscode from 'vscode';
import { formatTokens, formatUsd } from '../backend/protocol/figures.ts';
import type { RunSnapshot } from '../backend/protocol/run-snapshot.ts';
import type { BudgetLimit } from '../backend/protocol/worker-config.ts';

/**
 * How far the limit that a run stopped at is raised for it.
 * @returns the limits to resume with, none for a run that stopped at no limit, or undefined where nobody says
 */
export async function askRunBudget({ stoppedBy, budget }: Pick<RunSnapshot, 'stoppedBy' | 'budget'>): Promise<Partial<Record<BudgetLimit, number>> | undefined> {
  if (stoppedBy === undefined) return {};
  const limit = budget[stoppedBy];
  const isUsd = stoppedBy.endsWith('Usd');
  const text = await vscode.window.showInputBox({
    title: vscode.l10n.t('Conductor: Resume'),
    prompt: promptOf(stoppedBy, isUsd ? formatUsd(limit) : formatTokens(limit)),
    value: String(2 * limit),
    ignoreFocusOut: true,
    validateInput: (value) => {
      const amount = amountOf(value, isUsd);
      if (amount === undefined) {
        return isUsd ? vscode.l10n.t('Write an amount of dollars above 0, such as 2.50.') : vscode.l10n.t('Write a whole number of tokens, such as 800000.');
      }
      return amount > limit ? undefined : vscode.l10n.t('The run stopped at {0}: write more than that.', isUsd ? formatUsd(limit) : String(limit));
    },
  });
  const amount = text === undefined ? undefined : amountOf(text, isUsd);
  return amount === undefined ? undefined : { [stoppedBy]: amount };
}

function promptOf(limit: BudgetLimit, of: string): string {
  switch (limit) {
    case 'runUsd': return vscode.l10n.t('The most that this run may cost in all, in dollars; it stopped at {0}', of);
    case 'runTokens': return vscode.l10n.t('The most tokens that this run may use in all; it stopped at {0}', of);
    case 'dayUsd': return vscode.l10n.t('The most that the day may cost for this run to go on, in dollars; it stopped at {0}', of);
    case 'dayTokens': return vscode.l10n.t('The most tokens of the day for this run to go on; it stopped at {0}', of);
  }
}

function amountOf(text: string, isUsd: boolean): number | undefined {
  const amount = Number(text.trim().replace(/^\$/, ''));
  const isAmount = text.trim() !== '' && Number.isFinite(amount) && amount > 0;
  return isAmount && (isUsd || Number.isInteger(amount)) ? amount : undefined;
}
