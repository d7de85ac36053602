import * as vscode from 'vscode';
import { raisedLimit } from '../backend/protocol/budget-limits.ts';
import { formatTokens, formatUsd } from '../backend/protocol/figures.ts';
import type { RunSnapshot } from '../backend/protocol/run-snapshot.ts';
import type { BudgetLimit } from '../backend/protocol/worker-config.ts';

/**
 * How far the limit that a run stopped at is raised for it.
 * @returns the limits to resume with, none for a run that stopped at no limit, or undefined where nobody says
 */
export async function askRunBudget({ stoppedBy, needed, budget }: Pick<RunSnapshot, 'stoppedBy' | 'needed' | 'budget'>): Promise<Partial<Record<BudgetLimit, number>> | undefined> {
  if (stoppedBy === undefined) return {};
  const limit = budget[stoppedBy];
  const isUsd = stoppedBy.endsWith('Usd');
  const amountText = isUsd ? formatUsd : formatTokens;
  const least = Math.max(limit, needed ?? 0);
  const text = await vscode.window.showInputBox({
    title: vscode.l10n.t('Conductor: Resume'),
    prompt: promptOf(stoppedBy, amountText(limit), needed === undefined ? undefined : amountText(needed)),
    value: String(raisedLimit({ limit, needed })),
    ignoreFocusOut: true,
    validateInput: (value) => {
      const amount = amountOf(value, isUsd);
      if (amount === undefined) {
        return isUsd ? vscode.l10n.t('Write an amount of dollars above 0, such as 2.50.') : vscode.l10n.t('Write a whole number of tokens, such as 800000.');
      }
      if (amount >= least && amount > limit) return undefined;
      return needed === undefined
        ? vscode.l10n.t('The limit was {0}: write more than that.', isUsd ? formatUsd(limit) : String(limit))
        : vscode.l10n.t('With the next call it may come to {0}: write that or more.', isUsd ? formatUsd(least) : String(least));
    },
  });
  const amount = text === undefined ? undefined : amountOf(text, isUsd);
  return amount === undefined ? undefined : { [stoppedBy]: amount };
}

/** @param needed what the next call may bring it to; undefined in a run of an earlier version */
function promptOf(limit: BudgetLimit, of: string, needed: string | undefined): string {
  return needed === undefined ? questionOf(limit, of) : `${questionOf(limit, of)} ${vscode.l10n.t('With the next call it may come to {0}.', needed)}`;
}

function questionOf(limit: BudgetLimit, of: string): string {
  switch (limit) {
    case 'runUsd': return vscode.l10n.t('The most that this run may cost in all, in dollars. The limit was {0}.', of);
    case 'runTokens': return vscode.l10n.t('The most tokens that this run may use in all. The limit was {0}.', of);
    case 'dayUsd': return vscode.l10n.t('The most that the day may cost for this run to go on, in dollars. The limit was {0}.', of);
    case 'dayTokens': return vscode.l10n.t('The most tokens of the day for this run to go on. The limit was {0}.', of);
  }
}

function amountOf(text: string, isUsd: boolean): number | undefined {
  const amount = Number(text.trim().replace(/^\$/, ''));
  const isAmount = text.trim() !== '' && Number.isFinite(amount) && amount > 0;
  return isAmount && (isUsd || Number.isInteger(amount)) ? amount : undefined;
}
