import * as vscode from 'vscode';
import { raisedLimit } from '../../backend/protocol/budget-limits.ts';
import { formatTokens, formatUsd } from '../../backend/protocol/figures.ts';
import type { StopLimit } from '../../backend/protocol/worker-config.ts';

export interface ReachedLimit {
  readonly by: StopLimit;
  /** In dollars or tokens. */
  readonly limit: number;
  /** The total that the next call may reach; undefined in runs of an earlier version. */
  readonly needed?: number | undefined;
}

/**
 * Asks for a higher limit after something stopped at one.
 * @param questionOf the question, given the old limit
 * @returns the new limit in its unit; undefined if the user cancels
 */
export async function askRaisedLimit(
  { by, limit, needed }: ReachedLimit, { title, questionOf }: { readonly title: string; readonly questionOf: (limit: string) => string },
): Promise<number | undefined> {
  const isUsd = by.toLowerCase().endsWith('usd');
  const amountText = isUsd ? formatUsd : formatTokens;
  const least = Math.max(limit, needed ?? 0);
  const text = await vscode.window.showInputBox({
    title,
    prompt: [questionOf(amountText(limit)), ...(needed === undefined ? [] : [vscode.l10n.t('The next call may bring the total to {0}.', amountText(needed))])].join(' '),
    value: String(raisedLimit({ limit, needed })),
    ignoreFocusOut: true,
    validateInput: (value) => {
      const amount = amountOf(value, isUsd);
      if (amount === undefined) {
        return isUsd ? vscode.l10n.t('Enter an amount of dollars above 0, such as 2.50.') : vscode.l10n.t('Enter a whole number of tokens, such as 800000.');
      }
      if (amount >= least && amount > limit) return undefined;
      return needed === undefined
        ? vscode.l10n.t('The limit was {0}: enter more than that.', isUsd ? formatUsd(limit) : String(limit))
        : vscode.l10n.t('The next call may bring the total to {0}: enter at least that.', isUsd ? formatUsd(least) : String(least));
    },
  });
  return text === undefined ? undefined : amountOf(text, isUsd);
}

/** Parses a typed amount of dollars or of whole tokens; undefined unless it is above 0. */
export function amountOf(text: string, isUsd = true): number | undefined {
  const amount = Number(text.trim().replace(/^\$/, ''));
  const isAmount = text.trim() !== '' && Number.isFinite(amount) && amount > 0;
  return isAmount && (isUsd || Number.isInteger(amount)) ? amount : undefined;
}
