import * as vscode from 'vscode';
import type { RunSnapshot } from '../../backend/protocol/run-snapshot.ts';
import type { BudgetLimit } from '../../backend/protocol/worker-config.ts';
import { askRaisedLimit } from '../common/ask-raised-limit.ts';

/**
 * Asks for a higher limit after the run stopped at one.
 * @returns the limits to resume with, none if the run did not stop at a limit of its own; undefined if the user cancels
 */
export async function askRunBudget({ stoppedBy, needed, budget }: Pick<RunSnapshot, 'stoppedBy' | 'needed' | 'budget'>): Promise<Partial<Record<BudgetLimit, number>> | undefined> {
  if (stoppedBy === undefined || stoppedBy === 'usd' || stoppedBy === 'tokens') return {};
  const amount = await askRaisedLimit(
    { by: stoppedBy, limit: budget[stoppedBy], needed }, { title: vscode.l10n.t('Conductor: Resume'), questionOf: (limit) => questionOf(stoppedBy, limit) },
  );
  return amount === undefined ? undefined : { [stoppedBy]: amount };
}

function questionOf(limit: BudgetLimit, of: string): string {
  switch (limit) {
    case 'runUsd': return vscode.l10n.t('Maximum total cost of this run, in dollars. The limit was {0}.', of);
    case 'runTokens': return vscode.l10n.t('Maximum total tokens of this run. The limit was {0}.', of);
    case 'dayUsd': return vscode.l10n.t('Maximum cost of the day for this run, in dollars. The limit was {0}.', of);
    case 'dayTokens': return vscode.l10n.t('Maximum tokens of the day for this run. The limit was {0}.', of);
  }
}
